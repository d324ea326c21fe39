//! A model that instances share.

use std::path::Path;

use saltus::Model;
use saltus::source::SourceMap;

use super::in_words;
use crate::export::{indicator_count, token};
use crate::variables::{Settings, Variables};
use crate::{MODEL_FILE, SETTINGS_FILE};

/// A model that instances share.
#[derive(Debug)]
pub struct Loaded {
    pub(super) bytes: Vec<u8>,
    pub(super) model: Model,
    pub(super) settings: Settings,
    /// What it shows.
    pub variables: Variables,
    pub(super) token: String,
}

impl Loaded {
    /// Reads what is in the folder of resources of a unit.
    pub fn read(resources: &Path) -> Result<Loaded, String> {
        let read = |name: &str| {
            let path = resources.join(name);
            std::fs::read(&path).map_err(|error| format!("`{}` cannot be read: {error}", path.display()))
        };
        let settings = String::from_utf8(read(SETTINGS_FILE)?).map_err(|_| format!("`{SETTINGS_FILE}` is no text"))?;
        Self::new(read(MODEL_FILE)?, &settings)
    }

    /// A model file with the settings that go with it.
    pub fn new(bytes: Vec<u8>, text: &str) -> Result<Loaded, String> {
        let model = Model::from_bytes(&bytes).map_err(|diagnostic| in_words(&diagnostic, &SourceMap::new()))?;
        let settings = Settings::read(&model, text);
        let settings = settings.ok_or_else(|| format!("`{SETTINGS_FILE}` does not belong to the model"))?;
        let variables = Variables::new(&model, &settings, indicator_count(&model));
        let token = token(&bytes, text);
        Ok(Loaded {
            bytes,
            model,
            settings,
            variables,
            token,
        })
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
