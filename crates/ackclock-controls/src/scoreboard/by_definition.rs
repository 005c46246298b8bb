//! For tests: what the scoreboard counts, by the definitions of RFC 6675.

use super::Scoreboard;

impl Scoreboard {
    /// `nxt` at the last timeout.
    pub fn written_off(&self) -> u32 {
        self.gone_below
    }

    /// RFC 6675 section 4, SetPipe and IsLost word for word, in O(n^2); `written_off` is `nxt` at the
    /// last timeout.
    pub fn pipe_by_definition(&self, written_off: u32) -> u32 {
        let is_lost = |s: u32| {
            let above = (s + 1..self.nxt).filter(|&x| self.is_sacked(x)).count();
            above > 2 || s < written_off
        };
        if self.by_marks {
            let gone = |s: &u32| self.is_sacked(*s) || self.is_marked_lost(*s);
            return (self.una..self.nxt).filter(|s| !gone(s)).count() as u32;
        }
        let mut pipe = 0;
        for s in self.una..self.nxt {
            if self.is_sacked(s) {
                continue;
            }
            if !is_lost(s) {
                pipe += 1;
            }
            if s < self.rxt {
                pipe += 1;
            }
        }
        pipe
    }
}
