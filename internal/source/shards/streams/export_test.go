package streams

import "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

// What follows lets tests reach what no server can be made to return in every
// form.

// AppendRecord is appendRecord.
func AppendRecord(dst []byte, stream string, r *types.Record) []byte {
	return appendRecord(dst, stream, r)
}

// Explain is explain.
func Explain(operation string, err error) error { return explain(operation, err) }
