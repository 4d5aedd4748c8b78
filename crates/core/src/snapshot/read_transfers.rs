//! Deposits and withdrawals from bytes.

use super::formats::WITH_WITHDRAWALS;
use super::read::Result;
use super::reader::Reader;
use crate::Core;
use crate::references::KnownDeposit;
use crate::transfers::{Ended, Remembered};
use crate::withdrawals::HeldWithdrawal;
use rialto_model::{AccountId, CurrencyId, Seq, Transfer};

pub(super) fn transfers(core: &mut Core, from: &mut Reader<'_>) -> Result<()> {
    for _ in 0..from.u32()? {
        let ended = from.choice()?;
        let known_then = from.format >= WITH_WITHDRAWALS || ended <= Ended::Deposited;
        from.refuse_unless(known_then, "this format knows no such end of a transfer")?;
        let transfer = transfer(core, from)?;
        core.transfers.remember(Remembered { transfer, ended });
    }
    Ok(())
}

fn plain_transfer(from: &mut Reader<'_>) -> Result<Transfer> {
    Ok(Transfer {
        account: AccountId(from.u32()?),
        currency: CurrencyId(from.u16()?),
        amount: from.amount()?,
        reference: from.text()?,
    })
}

fn transfer(core: &Core, from: &mut Reader<'_>) -> Result<Transfer> {
    let transfer = plain_transfer(from)?;
    let ended = core.transfers.find(transfer.account, &transfer.reference).is_some();
    let held = core.withdrawals.find(transfer.account, &transfer.reference).is_some();
    from.refuse_unless(!ended && !held, "a reference is remembered twice")?;
    Ok(transfer)
}

pub(super) fn deposits(core: &mut Core, from: &mut Reader<'_>) -> Result<()> {
    for _ in 0..from.u32()? {
        let transfer = plain_transfer(from)?;
        let deposit = KnownDeposit { transfer, time: from.time()?, seq: Seq(from.u64()?) };
        let only = core.deposits.restore(deposit);
        from.refuse_unless(only, "a deposit is remembered twice, or there are too many")?;
    }
    Ok(())
}

pub(super) fn ended_withdrawals(core: &mut Core, from: &mut Reader<'_>) -> Result<()> {
    for _ in 0..from.u32()? {
        let ended = from.choice()?;
        let transfer = transfer(core, from)?;
        let slot = core.accounts.slot(transfer.account).ok();
        let slot = from.needs(slot, "a withdrawal is of no account")?;
        let seq = Seq(from.u64()?);
        let only = core.ended_withdrawals.restore(slot, seq, Remembered { transfer, ended });
        let fine = only && ended != Ended::Deposited;
        from.refuse_unless(fine, "a withdrawal is remembered twice, or there are too many")?;
    }
    Ok(())
}

pub(super) fn withdrawals(core: &mut Core, from: &mut Reader<'_>) -> Result<()> {
    let mut last = Seq::ZERO;
    for _ in 0..from.u32()? {
        let transfer = transfer(core, from)?;
        let slot = core.accounts.slot(transfer.account).ok();
        let slot = from.needs(slot, "a withdrawal is of no account")?;
        let listed = (1..=core.currencies.len()).contains(&transfer.currency.0.into());
        from.refuse_unless(
            listed && transfer.amount.0 > 0,
            "a withdrawal is of no currency, or of nothing",
        )?;
        let (seq, held_at) = (Seq(from.u64()?), from.time()?);
        let ascends = last < seq && seq <= core.seq;
        from.refuse_unless(ascends, "withdrawals are not in the order in which they were held")?;
        core.withdrawals.hold(slot, HeldWithdrawal { transfer, seq, held_at });
        last = seq;
    }
    Ok(())
}
