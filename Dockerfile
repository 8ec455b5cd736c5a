# syntax=docker/dockerfile:1
# Both daemons in an image that holds nothing else: no shell, no libc, no root. It builds for
# amd64 and arm64 on either, because Go compiles for the other one.
#
#   docker build -t keyheat .
#   docker buildx build --platform linux/amd64,linux/arm64 -t keyheat .
#   docker run --rm keyheat version

FROM --platform=$BUILDPLATFORM golang:1.26 AS go

# A release replaces this stage with the programs that it has built and attested already:
# --build-context programs=FOLDER, with out/amd64 and out/arm64 in it.
FROM go AS programs
ARG TARGETOS TARGETARCH
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH go build -trimpath -ldflags="-s -w" -o /out/$TARGETARCH/ ./cmd/... && \
    go run ./scripts/modules licences > /out/$TARGETARCH/THIRD_PARTY_NOTICES

FROM scratch AS both
ARG TARGETARCH
ARG VERSION=dev
LABEL org.opencontainers.image.title="Keyheat" \
      org.opencontainers.image.description="Finds the DynamoDB partition keys that throttle a table" \
      org.opencontainers.image.source="https://github.com/keyheat/keyheat" \
      org.opencontainers.image.documentation="https://github.com/keyheat/keyheat/tree/main/docs" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="$VERSION"
# To verify the TLS of Kafka, Postgres and webhooks.
COPY --from=go /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=programs /out/$TARGETARCH/ /
COPY LICENSE NOTICE /
USER 65532:65532

# An image of one daemon, with its health check: docker build --target collector .
FROM both AS collector
HEALTHCHECK --interval=30s --timeout=20s --start-period=30s CMD ["/collector", "check", "--daemon"]
ENTRYPOINT ["/collector"]
CMD ["run"]

FROM both AS reporter
HEALTHCHECK --interval=30s --timeout=20s --start-period=30s CMD ["/reporter", "check", "--daemon"]
ENTRYPOINT ["/reporter"]
CMD ["serve"]

# Both, for a first look, and for compose and Kubernetes, which name the program and have
# health checks of their own:
#
#   docker run --rm -i keyheat analyze - < samples.ndjson
#   docker run --rm --entrypoint /collector keyheat generate
FROM both
ENTRYPOINT ["/reporter"]
CMD ["--help"]
