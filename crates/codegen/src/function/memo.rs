//! Results of the last calls, by what was asked.

use std::cell::RefCell;
use std::hash::{Hash, Hasher};

use rustc_hash::FxHasher;
use saltus_mdae::FunctionId;

/// Places for answers; a question has one place, and a new one takes it.
const PLACES: usize = 256;
/// Longer lists of arguments and results are not kept.
const LONGEST: usize = 4096;

/// What is asked of a function.
pub(super) struct Question<'a> {
    pub library: u64,
    pub function: FunctionId,
    pub order: u16,
    pub directions: &'a [u32],
    pub args: &'a [f64],
}

#[derive(Default)]
struct Answer {
    library: u64,
    function: Option<FunctionId>,
    order: u16,
    directions: Vec<u32>,
    args: Vec<u64>,
    results: Vec<f64>,
}

thread_local! {
    static ANSWERS: RefCell<Vec<Answer>> = const { RefCell::new(Vec::new()) };
}

impl Question<'_> {
    fn place(&self) -> usize {
        let mut hasher = FxHasher::default();
        (self.library, self.function, self.order, self.directions).hash(&mut hasher);
        self.args.iter().for_each(|arg| arg.to_bits().hash(&mut hasher));
        (hasher.finish() >> 32) as usize % PLACES
    }

    fn is_answered_by(&self, answer: &Answer) -> bool {
        (answer.library, answer.function, answer.order) == (self.library, Some(self.function), self.order)
            && answer.directions == self.directions
            && answer.args.len() == self.args.len()
            && answer
                .args
                .iter()
                .zip(self.args)
                .all(|(known, arg)| *known == arg.to_bits())
    }
}

/// Writes the results of an earlier call with the same arguments, bit by bit, if they are still known.
pub(super) fn recall(question: &Question<'_>, results: &mut [f64]) -> bool {
    ANSWERS.with_borrow(|answers| match answers.get(question.place()) {
        Some(answer) if question.is_answered_by(answer) && answer.results.len() == results.len() => {
            results.copy_from_slice(&answer.results);
            true
        }
        _ => false,
    })
}

/// Keeps the results of a call.
pub(super) fn remember(question: &Question<'_>, results: &[f64]) {
    if question.args.len() > LONGEST || results.len() > LONGEST {
        return;
    }
    ANSWERS.with_borrow_mut(|answers| {
        answers.resize_with(PLACES, Answer::default);
        let answer = &mut answers[question.place()];
        answer.library = question.library;
        answer.function = Some(question.function);
        answer.order = question.order;
        answer.directions.clear();
        answer.directions.extend_from_slice(question.directions);
        answer.args.clear();
        answer.args.extend(question.args.iter().map(|arg| arg.to_bits()));
        answer.results.clear();
        answer.results.extend_from_slice(results);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_for_the_same_question_only() {
        let question = |library: u64, args: &'static [f64], directions: &'static [u32]| Question {
            library,
            function: FunctionId(3),
            order: 0,
            directions,
            args,
        };
        let asked = question(u64::MAX, &[1.0, 2.0], &[]);
        remember(&asked, &[5.0]);
        let mut results = [0.0];
        assert!(recall(&asked, &mut results));
        assert_eq!(results, [5.0]);
        assert!(!recall(&question(u64::MAX - 1, &[1.0, 2.0], &[]), &mut results));
        assert!(!recall(&question(u64::MAX, &[1.0, -2.0], &[]), &mut results));
        assert!(!recall(&question(u64::MAX, &[1.0, 2.0], &[0]), &mut results));
        assert!(!recall(&asked, &mut [0.0, 0.0]));
    }
}
