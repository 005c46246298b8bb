//! A sender's credit.

use super::Allowance;
use crate::wire::{CREDIT_UNIT, CreditOption};

/// The credit of one sender.
#[derive(Clone, Debug)]
pub struct Spending {
    allowance: Allowance,
    wire_size: u32,
    /// Bytes that may leave; the last packet may take it below 0.
    credit: i64,
    /// Units given so far.
    given: u64,
    /// No answer has come.
    is_unheard: bool,
    /// The timer ran out: one packet leaves without credit.
    is_exempt: bool,
}

fn signed(bytes: u64) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

impl Spending {
    /// Of a sender that has sent nothing.
    pub fn new(allowance: Allowance, wire_size: u32) -> Self {
        let credit = signed(allowance.first);
        Self { allowance, wire_size, credit, given: 0, is_unheard: true, is_exempt: false }
    }

    /// An answer has come; `grant` is what it says of credit.
    pub fn hear(&mut self, grant: Option<CreditOption>) {
        if std::mem::take(&mut self.is_unheard) && self.allowance.first_expires {
            self.credit = self.credit.min(0);
        }
        if let Some(grant) = grant {
            // Old grants are behind.
            let more = grant.total.wrapping_sub(self.given as u32).cast_signed();
            if let Ok(units @ 1..) = u64::try_from(more) {
                self.given += units;
                let credit = self.credit.saturating_add(signed(units * CREDIT_UNIT));
                self.credit = credit.min(signed(self.allowance.most));
            }
        }
    }

    /// The timer has run out.
    pub fn exempt_one(&mut self) {
        self.is_exempt = true;
    }

    /// Whether a packet may leave, one that is sent again or not.
    pub fn allows(&self, is_repeat: bool) -> bool {
        self.credit > 0 || self.is_exempt || is_repeat && !self.allowance.for_repeats
    }

    /// A packet leaves; what is left to send, of segments that are new and of lost ones. Returns what the packet says.
    pub fn spend(&mut self, is_repeat: bool, [new, lost]: [u32; 2]) -> CreditOption {
        let packet = i64::from(self.wire_size);
        let is_without = std::mem::take(&mut self.is_exempt) && self.credit <= 0;
        if (!is_repeat || self.allowance.for_repeats) && !is_without {
            self.credit -= packet;
        }
        let repeats = if self.allowance.for_repeats { lost } else { 0 };
        let left = (i64::from(new) + i64::from(repeats)) * packet;
        let mut use_for = left.min(signed(self.allowance.most)) - self.credit;
        if self.is_unheard && new > 0 {
            use_for = use_for.max(packet);
        }
        let units = u64::try_from(use_for).unwrap_or(0).div_ceil(CREDIT_UNIT);
        CreditOption { total: self.given.wrapping_add(units) as u32, is_without }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowance(first_expires: bool, for_repeats: bool) -> Allowance {
        Allowance { first: 3000, first_expires, most: 4000, for_repeats }
    }

    fn grant(total: u32) -> CreditOption {
        CreditOption { total, is_without: false }
    }

    #[test]
    fn what_may_leave_unheard_expires_with_the_first_answer() {
        let mut spending = Spending::new(allowance(true, true), 1000);
        // 1000 of 3000 B are spent; 2000 B are left to send and for these there is credit, but it says that it has use for a packet at least.
        assert_eq!(spending.spend(false, [2, 0]).total, 4);
        assert!(spending.allows(false));
        spending.hear(None);
        assert!(!spending.allows(false) && !spending.allows(true));
        // 8 units are 2048 B: three packets, as any credit lets one leave.
        spending.hear(Some(grant(8)));
        for left in [2, 1, 0] {
            assert!(spending.allows(false));
            spending.spend(false, [left, 0]);
        }
        assert!(!spending.allows(false));
    }

    #[test]
    fn grants_count_once_in_any_order_and_across_the_wrap() {
        let mut spending = Spending::new(Allowance { first: 0, ..allowance(false, true) }, 1000);
        spending.given = u64::from(u32::MAX);
        spending.hear(Some(grant(3)));
        assert_eq!((spending.credit, spending.given), (1024, u64::from(u32::MAX) + 4));
        spending.hear(Some(grant(1)));
        spending.hear(Some(grant(3)));
        assert_eq!(spending.credit, 1024);
        spending.hear(Some(grant(1000)));
        assert_eq!(spending.credit, 4000);
    }

    #[test]
    fn a_timeout_lets_one_leave_and_says_so() {
        let mut spending = Spending::new(Allowance { first: 0, ..allowance(true, true) }, 1000);
        spending.hear(None);
        spending.exempt_one();
        assert!(spending.allows(true));
        // Of the ten that are left and five that are lost most is 4000 B.
        assert_eq!(spending.spend(true, [10, 5]), CreditOption { total: 16, is_without: true });
        assert!(!spending.allows(true));
    }

    #[test]
    fn what_is_sent_again_needs_no_credit_where_the_rule_says_so() {
        let mut spending = Spending::new(Allowance { first: 500, ..allowance(false, false) }, 1000);
        assert_eq!(spending.spend(false, [1, 0]).total, 6);
        assert!(!spending.allows(false) && spending.allows(true));
        spending.spend(true, [1, 0]);
        assert_eq!(spending.credit, -500);
    }
}
