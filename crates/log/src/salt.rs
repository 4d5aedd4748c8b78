//! Salts.

/// Sixteen bytes from the generator of the cipher library, which the system seeds: a value for
/// [`Options::salt`](crate::Options::salt), fresh for every opening.
pub fn fresh_salt() -> [u8; 16] {
    let mut salt = [0; 16];
    aws_lc_rs::rand::fill(&mut salt)
        .expect("a generator that cannot be seeded ends the process instead of failing");
    salt
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_are_alike() {
        let mut salts: Vec<[u8; 16]> = (0..1000).map(|_| fresh_salt()).collect();
        salts.sort_unstable();
        salts.dedup();
        assert_eq!(salts.len(), 1000);
    }
}
