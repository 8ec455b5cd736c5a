# Both daemons in an image that holds nothing else: no shell, no libc, no root.
#
#   docker build -t keyheat .
#   docker run --rm keyheat /collector version

FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -ldflags="-s -w" -o /out/ ./cmd/... && \
    go run ./scripts/modules licences > /THIRD_PARTY_NOTICES

FROM scratch
# To verify the TLS of Kafka, Postgres and webhooks.
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /out/ /
COPY --from=build /THIRD_PARTY_NOTICES /
COPY LICENSE NOTICE /
USER 65532:65532
