//! The progress bar on a terminal.

use std::io::{self, Write};
use std::time::{Duration, Instant};

use saltus::simulate::{EventReport, Observer};

/// Redrawing more often costs time and is not seen.
const PAUSE: Duration = Duration::from_millis(100);
/// Runs that are over by then need no bar.
const PATIENCE: Duration = Duration::from_millis(500);
const WIDTH: usize = 30;

/// Draws on standard error and wipes itself away.
#[derive(Debug)]
pub(crate) struct Progress {
    start: f64,
    stop: f64,
    events: u64,
    began: Instant,
    drawn: Option<Instant>,
    /// Looking at the clock in every step would cost more than the step.
    steps: u32,
}

impl Progress {
    /// A bar from the first to the last time.
    pub(crate) fn new((start, stop): (f64, f64)) -> Progress {
        Progress {
            start,
            stop,
            events: 0,
            began: Instant::now(),
            drawn: None,
            steps: 0,
        }
    }

    fn draw(&mut self, time: f64, now: Instant) {
        let done = ((time - self.start) / (self.stop - self.start)).clamp(0.0, 1.0);
        let elapsed = now.duration_since(self.began).as_secs_f64();
        let filled = (done * WIDTH as f64) as usize;
        let bar: String = (0..WIDTH).map(|i| if i < filled { '█' } else { '░' }).collect();
        let left = if done > 0.0 {
            format!("{:.0} s left", elapsed * (1.0 - done) / done)
        } else {
            String::new()
        };
        let events = match self.events {
            0 => String::new(),
            events => format!(", {events} events"),
        };
        let _ = write!(
            io::stderr().lock(),
            "\r\x1b[K{bar} {:3.0} %  t = {time:.6}{events}  {left}",
            100.0 * done
        );
        self.drawn = Some(now);
    }
}

impl Observer for Progress {
    fn progress(&mut self, time: f64) {
        self.steps += 1;
        if self.steps % 64 != 1 {
            return;
        }
        let now = Instant::now();
        let last = self.drawn.unwrap_or(self.began);
        let pause = if self.drawn.is_some() { PAUSE } else { PATIENCE };
        if now.duration_since(last) >= pause {
            self.draw(time, now);
        }
    }

    fn event(&mut self, _: &EventReport) {
        self.events += 1;
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.drawn.is_some() {
            let _ = write!(io::stderr().lock(), "\r\x1b[K");
        }
    }
}
