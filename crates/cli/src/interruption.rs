//! What happens when somebody interrupts.

use std::time::Duration;

use saltus::simulate::Cancel;

/// How long an interrupted run may take to end in good order.
const GRACE: Duration = Duration::from_secs(10);

/// A token that is cancelled when the user interrupts. Asked twice, the program ends at once; so it does when it does not
/// end in good order soon, as in the middle of a long initialisation. What is on disk can be read all the same.
pub(crate) fn interruption() -> Cancel {
    let cancel = Cancel::new();
    let token = cancel.clone();
    let _ = ctrlc::set_handler(move || {
        if token.is_cancelled() {
            std::process::exit(130)
        } else {
            token.cancel();
            std::thread::spawn(|| {
                std::thread::sleep(GRACE);
                std::process::exit(130)
            });
        }
    });
    cancel
}
