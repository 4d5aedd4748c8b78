# A venue as a container: the binary, its settings, no shell, no root.
#
#   docker build -t rialto .
#   docker run --rm -p 127.0.0.1:8080:8080 -v rialto-data:/data --stop-timeout 45 rialto

FROM rust:1.90-bookworm AS build
WORKDIR /source
COPY . .
RUN cargo build --release --locked --package rialto && mkdir /empty

# The C library and the unwinder, which is all that the binary needs.
FROM gcr.io/distroless/cc-debian12:nonroot
COPY --from=build /source/target/release/rialto /usr/local/bin/rialto
COPY --from=build /source/packaging/container.toml /etc/rialto/rialto.toml
COPY --from=build --chown=nonroot:nonroot --chmod=700 /empty /data
USER nonroot
VOLUME ["/data"]
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s CMD ["/usr/local/bin/rialto", "instruments", "--url", "http://127.0.0.1:8080"]
ENTRYPOINT ["/usr/local/bin/rialto"]
CMD ["serve", "--config", "/etc/rialto/rialto.toml"]
