//! Reference trajectories under `tests/reference/`.

use saltus_testing::repository;

/// A table of numbers with named columns; the first one is the time.
pub(crate) struct Table {
    names: Vec<String>,
    rows: Vec<Vec<f64>>,
}

impl Table {
    pub(crate) fn read(file: &str) -> Result<Table, String> {
        let path = repository().join("tests/reference").join(file);
        let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let mut lines = text.lines();
        let names = lines.next().unwrap_or("").split(',').map(str::to_owned).collect();
        let row = |line: &str| {
            line.split(',')
                .map(|field| field.trim().parse().ok())
                .collect::<Option<_>>()
        };
        let rows = lines
            .map(row)
            .collect::<Option<_>>()
            .ok_or(format!("{file}: not a number"))?;
        Ok(Table { names, rows })
    }

    /// Pairs of time and value.
    pub(crate) fn column(&self, name: &str) -> Result<Vec<(f64, f64)>, String> {
        let found = self.names.iter().position(|n| n == name);
        let at = found.ok_or_else(|| format!("no column `{name}`"))?;
        Ok(self.rows.iter().map(|row| (row[0], row[at])).collect())
    }
}
