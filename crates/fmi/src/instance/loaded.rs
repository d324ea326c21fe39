//! A model that instances share.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use saltus::Model;
use saltus::source::SourceMap;

use super::in_words;
use crate::export::{indicator_count, token};
use crate::family::Family;
use crate::variables::{Settings, Variables};
use crate::{FAMILY_FILE, MODEL_FILE, SETTINGS_FILE};

/// A model that instances share.
#[derive(Debug)]
pub struct Loaded {
    pub(super) bytes: Vec<u8>,
    pub(super) model: Model,
    pub(super) settings: Settings,
    /// What it shows.
    pub variables: Variables,
    pub(super) token: String,
    /// The models of other sizes, and where they are.
    family: Option<(Arc<Family>, PathBuf)>,
    /// The values of the parameters that give sizes.
    sizes: Vec<u64>,
}

fn read(folder: &Path, name: &str) -> Result<Vec<u8>, String> {
    let path = folder.join(name);
    std::fs::read(&path).map_err(|error| format!("`{}` cannot be read: {error}", path.display()))
}

fn read_text(folder: &Path, name: &str) -> Result<String, String> {
    String::from_utf8(read(folder, name)?).map_err(|_| format!("`{name}` is no text"))
}

impl Loaded {
    /// Reads what is in the folder of resources of a unit.
    pub fn read(resources: &Path) -> Result<Loaded, String> {
        let settings = read_text(resources, SETTINGS_FILE)?;
        let family = resources.join(FAMILY_FILE).is_file();
        let family = family.then(|| read_text(resources, FAMILY_FILE)).transpose()?;
        let mut loaded = Self::new(read(resources, MODEL_FILE)?, &settings, family.as_deref())?;
        if let Some((_, folder)) = &mut loaded.family {
            resources.clone_into(folder);
        }
        Ok(loaded)
    }

    /// A model file with the settings that go with it; if it is one of several, with what is common to all.
    pub fn new(bytes: Vec<u8>, settings: &str, family: Option<&str>) -> Result<Loaded, String> {
        let token = token(&bytes, settings, family);
        let known = family.map(|text| Family::read(text).ok_or_else(|| format!("`{FAMILY_FILE}` is damaged")));
        let family = known.transpose()?.map(|family| (Arc::new(family), PathBuf::new()));
        let sizes = family
            .as_ref()
            .map_or_else(Vec::new, |(family, _)| family.first().to_vec());
        Self::of(bytes, settings, token, family, sizes)
    }

    fn of(
        bytes: Vec<u8>,
        text: &str,
        token: String,
        family: Option<(Arc<Family>, PathBuf)>,
        sizes: Vec<u64>,
    ) -> Result<Loaded, String> {
        let model = Model::from_bytes(&bytes).map_err(|diagnostic| in_words(&diagnostic, &SourceMap::new()))?;
        let settings = Settings::read(&model, text);
        let settings = settings.ok_or_else(|| format!("`{SETTINGS_FILE}` does not belong to the model"))?;
        let mut variables = Variables::new(&model, &settings, indicator_count(&model));
        if let Some((family, _)) = &family {
            variables = variables.in_family(&family.interface, &sizes)?;
        }
        Ok(Loaded {
            bytes,
            model,
            settings,
            variables,
            token,
            family,
            sizes,
        })
    }

    /// The model of the same unit with other sizes.
    pub fn with_sizes(&self, sizes: &[u64]) -> Result<Loaded, String> {
        let Some((family, resources)) = &self.family else {
            return Err("the unit has no parameters that give sizes".to_owned());
        };
        let folder = resources.join(family.folder(sizes)?);
        let settings = read_text(&folder, SETTINGS_FILE)?;
        let bytes = read(&folder, MODEL_FILE)?;
        family.check(sizes, &bytes, &settings)?;
        let family = Some((Arc::clone(family), resources.clone()));
        Self::of(bytes, &settings, self.token.clone(), family, sizes.to_vec())
    }

    /// The values of the parameters that give sizes, in the order of the interface.
    pub fn sizes(&self) -> &[u64] {
        &self.sizes
    }

    /// What is done where the model is not clear.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// What the description says of it.
    pub fn token(&self) -> &str {
        &self.token
    }
}
