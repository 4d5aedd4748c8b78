//! HTTP and WebSocket: authentication, limits, errors, metrics.
