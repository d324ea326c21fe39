//! `terminalsAndIcons.xml`: the connectors of a model as terminals, so that importers connect them as a whole.

use saltus::Model;
use saltus::flat::ConnectorRole;

use crate::variables::Variables;
use crate::xml::Writer;

/// The terminals of a model, as text; nothing if it has no connectors.
pub(crate) fn terminals(model: &Model, variables: &Variables) -> Option<String> {
    let connectors = model.connectors();
    if connectors.is_empty() {
        return None;
    }
    let mut xml = Writer::new();
    let text = |text: &str| text.to_owned();
    xml.around("fmiTerminalsAndIcons", &[("fmiVersion", text("3.0"))], |xml| {
        xml.around("Terminals", &[], |xml| {
            for connector in connectors {
                let attributes = [("name", text(&connector.name)), ("matchingRule", text("plug"))];
                let members = connector.members.iter();
                let shown = members.filter(|member| variables.reference(&member.variable).is_some());
                xml.around("Terminal", &attributes, |xml| {
                    for member in shown {
                        let kind = match member.role {
                            ConnectorRole::Flow => "inflow",
                            ConnectorRole::Potential | ConnectorRole::Stream => "signal",
                        };
                        xml.leaf(
                            "TerminalMemberVariable",
                            &[
                                ("variableName", text(&member.variable)),
                                ("memberName", text(&member.name)),
                                ("variableKind", text(kind)),
                            ],
                        );
                    }
                });
            }
        });
    });
    Some(xml.finish())
}
