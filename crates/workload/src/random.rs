//! The two generators of random numbers behind the workloads.

/// xorshift64*, the generator of OBW1 streams and of the mix.
#[derive(Clone, Debug)]
pub struct XorShift(u64);

impl XorShift {
    /// A generator that has been seeded and stirred as OBW1 streams are.
    #[must_use]
    pub fn seeded(seed: u64) -> XorShift {
        let mut generator = XorShift(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        for _ in 0..16 {
            generator.next_word();
        }
        generator
    }

    /// The next 64 bits.
    pub fn next_word(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number from 0 to `bound - 1`: the high half of a 128-bit product.
    pub fn below(&mut self, bound: u64) -> u64 {
        let product = u128::from(self.next_word()) * u128::from(bound);
        (product >> 64) as u64
    }
}

const WORDS: usize = 624;
const SHIFT: usize = 397;

/// The Mersenne Twister MT19937 in its 32-bit form, as C++ calls `mt19937`.
///
/// Matsumoto and Nishimura, "Mersenne Twister: a 623-dimensionally equidistributed uniform
/// pseudo-random number generator", 1998.
#[derive(Clone, Debug)]
pub struct MersenneTwister {
    words: [u32; WORDS],
    next: usize,
}

impl MersenneTwister {
    /// The generator that C++ makes of `seed`.
    #[must_use]
    pub fn seeded(seed: u32) -> MersenneTwister {
        let mut words = [0; WORDS];
        let mut last = seed;
        words[0] = last;
        for (position, word) in (1_u32..).zip(&mut words[1..]) {
            last = (last ^ (last >> 30)).wrapping_mul(1_812_433_253).wrapping_add(position);
            *word = last;
        }
        MersenneTwister { words, next: WORDS }
    }

    /// The next 32 bits.
    pub fn next_word(&mut self) -> u32 {
        if self.next == WORDS {
            self.twist();
        }
        let mut word = self.words[self.next];
        self.next += 1;
        word ^= word >> 11;
        word ^= (word << 7) & 0x9d2c_5680;
        word ^= (word << 15) & 0xefc6_0000;
        word ^ (word >> 18)
    }

    /// A double in [0, 1), made of two words as libstdc++ makes it: the first is the low one.
    pub fn next_double(&mut self) -> f64 {
        let low = f64::from(self.next_word());
        let high = f64::from(self.next_word());
        let unit = (low + high * 4_294_967_296.0) / 18_446_744_073_709_551_616.0;
        // The sum of the words can round up to 2^64; libstdc++ then steps back below one.
        if unit < 1.0 { unit } else { 1.0_f64.next_down() }
    }

    /// A double in [`low`, `high`), as `uniform_real_distribution` scales it.
    pub fn uniform(&mut self, low: f64, high: f64) -> f64 {
        self.next_double() * (high - low) + low
    }

    fn twist(&mut self) {
        for position in 0..WORDS {
            let upper = self.words[position] & 0x8000_0000;
            let lower = self.words[(position + 1) % WORDS] & 0x7fff_ffff;
            let mixed = upper | lower;
            let odd = if mixed & 1 == 1 { 0x9908_b0df } else { 0 };
            self.words[position] = self.words[(position + SHIFT) % WORDS] ^ (mixed >> 1) ^ odd;
        }
        self.next = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_twister_gives_the_ten_thousandth_word_that_the_standard_names() {
        let mut twister = MersenneTwister::seeded(5489);
        let word = (0..10_000).map(|_| twister.next_word()).last();
        assert_eq!(word, Some(4_123_659_995));
    }

    #[test]
    fn doubles_stay_below_one_even_when_the_words_round_up() {
        let mut twister = MersenneTwister { words: [0; WORDS], next: 0 };
        // The tempering is invertible: these words come out as all ones.
        twister.words[..2].fill(untemper(u32::MAX));
        assert_eq!(twister.clone().next_word(), u32::MAX);
        assert_eq!(twister.next_double(), 1.0_f64.next_down());
    }

    fn untemper(word: u32) -> u32 {
        let mut word = word ^ (word >> 18);
        word ^= (word << 15) & 0xefc6_0000;
        let mut undone = word;
        for _ in 0..4 {
            undone = word ^ ((undone << 7) & 0x9d2c_5680);
        }
        let mut result = undone;
        for _ in 0..2 {
            result = undone ^ (result >> 11);
        }
        result
    }

    #[test]
    fn numbers_below_a_bound_reach_both_ends_and_no_further() {
        let mut generator = XorShift::seeded(1);
        let mut seen = [false; 5];
        for _ in 0..1_000 {
            seen[generator.below(5) as usize] = true;
        }
        assert_eq!(seen, [true; 5]);
    }
}
