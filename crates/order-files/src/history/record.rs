//! The records of the history.
// format: docs/formats/order-file.md

use crate::answer::RowAnswer;
use crate::content::ContentKey;
use rialto_model::AccountId;
use serde::{Deserialize, Serialize};

/// The version of the records.
pub(crate) const FORMAT_VERSION: u32 = 1;

/// A change of the history. New variants are added behind the last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Record {
    /// The rows of a content are going to be sent, or go on to be with another file.
    Begun(ContentKey, Begun),
    /// These rows are going to be sent.
    Intended(ContentKey, Intention),
    /// The rows from this one on, counted from 0, were answered.
    Answered { key: ContentKey, first: u32, answers: Vec<RowAnswer> },
    /// All rows were answered, and the file was completed; or it was deleted before.
    Ended(ContentKey, Ended),
    /// The first record of an image of a begun content: what was recorded before does not count.
    Image(ContentKey, Begun),
    /// The account of rows that name none. The file stays readable when the member has more accounts.
    OnlyAccount(ContentKey, AccountId),
    /// The file of the answer to a content that is going to be completed, or has ended. Only this
    /// file is the first answer: the member may put another one under its path.
    AnswerFile(ContentKey, u128),
}

/// A content whose rows are being sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Begun {
    /// The id of the file.
    pub(crate) file: u128,
    /// The path of its answer.
    pub(crate) answer: String,
    /// The number of its rows.
    pub(crate) rows: u32,
}

/// Rows that are sent together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Intention {
    /// The first row, counted from 0.
    pub(crate) first: u32,
    /// The number of rows.
    pub(crate) rows: u32,
    /// The commands of the rows have greater sequences. It was synced when this was recorded, so
    /// that no loss of power makes the venue give these sequences to other commands.
    pub(crate) after: u64,
}

/// A content that was answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ended {
    /// Its number among all ended ones.
    pub(crate) number: u64,
    /// The path of the first answer.
    pub(crate) answer: String,
    /// The number of its rows.
    pub(crate) rows: u32,
    /// The number of rows that were answered: fewer if the file was deleted.
    pub(crate) answered: u32,
    /// The number of rows behind them that were going to be sent when it was deleted.
    pub(crate) in_doubt: u32,
}
