//! A handful of measurements of one thing.

use serde_json::{Value, json};

/// Measurements in one unit.
#[derive(Debug, Default, Clone)]
pub(crate) struct Sample {
    sorted: Vec<f64>,
}

impl Sample {
    /// Adds one.
    pub(crate) fn add(&mut self, value: f64) {
        let at = self.sorted.partition_point(|other| *other < value);
        self.sorted.insert(at, value);
    }

    /// The middle one; of an even number the mean of the middle two. None when there are none.
    pub(crate) fn median(&self) -> Option<f64> {
        let upper = self.sorted.get(self.sorted.len() / 2)?;
        let lower = self.sorted.get(self.sorted.len().saturating_sub(1) / 2)?;
        Some(f64::midpoint(*lower, *upper))
    }

    /// The smallest.
    pub(crate) fn min(&self) -> Option<f64> {
        self.sorted.first().copied()
    }

    /// The largest.
    pub(crate) fn max(&self) -> Option<f64> {
        self.sorted.last().copied()
    }

    /// `{median, min, max}`, null where there is nothing.
    pub(crate) fn json(&self) -> Value {
        json!({ "median": self.median(), "min": self.min(), "max": self.max() })
    }
}

#[cfg(test)]
#[path = "sample_tests.rs"]
mod tests;
