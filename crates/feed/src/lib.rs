//! Folds of released events: depth, best prices, trades, own orders and balances.
