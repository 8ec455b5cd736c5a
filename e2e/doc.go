// Package e2e runs Keyheat as its users do, collectors and a reporter as
// processes of their own, against a real Apache Kafka and a real Postgres, and
// holds what they store against an oracle that shares no code with them.
//
// Its tests are built with the tag e2e and run by `make e2e`.
package e2e
