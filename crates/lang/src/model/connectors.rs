//! The connectors of the model itself: what others can be connected with.

use saltus_syntax::ast::{ClassKind, ConnectorPrefix};

use crate::flat::{ConnectorMember, ConnectorRole, FlatConnector, Idx, VariableId};
use crate::flattener::Flattener;
use crate::ids::InstanceId;
use crate::instance::ComponentKind;
use crate::tensor::volume;

impl Flattener<'_> {
    /// Lists the public connectors that are components of the model, with what is inside of them.
    pub(super) fn collect_connectors(&mut self, root: InstanceId) {
        let mut connectors: Vec<(InstanceId, FlatConnector)> = Vec::new();
        for component in self.components.iter().filter(|component| component.inherited.connector) {
            let ComponentKind::Primitive { first: Some(first), .. } = component.kind else {
                continue;
            };
            let Some(outermost) = self.outermost(component.parent, root) else {
                continue;
            };
            let instance = &self.instances[outermost];
            let is_connector = matches!(
                self.def(instance.class).kind,
                ClassKind::Connector | ClassKind::ExpandableConnector
            );
            if !is_connector || instance.inherited.protected {
                continue;
            }
            let role = match component.flow {
                None => ConnectorRole::Potential,
                Some(ConnectorPrefix::Flow) => ConnectorRole::Flow,
                Some(ConnectorPrefix::Stream) => ConnectorRole::Stream,
            };
            let count = volume(&component.dims).unwrap_or(0);
            let members = (0..count).filter_map(|at| {
                let variable = self.model.variables.get(VariableId::from_usize(first.index() + at))?;
                let name = variable.name.strip_prefix(&*instance.path)?.strip_prefix('.')?;
                Some(ConnectorMember {
                    name: name.into(),
                    variable: variable.name.clone(),
                    role,
                })
            });
            let members: Vec<ConnectorMember> = members.collect();
            match connectors.iter_mut().find(|(known, _)| *known == outermost) {
                Some((_, connector)) => connector.members.extend(members),
                None => {
                    let name = instance.path.clone();
                    connectors.push((outermost, FlatConnector { name, members }));
                }
            }
        }
        self.model.connectors = connectors.into_iter().map(|(_, connector)| connector).collect();
    }

    /// The instance around this one, or itself, that is directly in the model.
    fn outermost(&self, instance: InstanceId, root: InstanceId) -> Option<InstanceId> {
        let mut outermost = instance;
        loop {
            match self.instances[outermost].parent {
                Some(parent) if parent == root => return Some(outermost),
                Some(parent) => outermost = parent,
                None => return None,
            }
        }
    }
}
