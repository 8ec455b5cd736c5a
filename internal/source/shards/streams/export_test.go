package streams

import "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

// These exports let tests reach forms that no server can be made to return.

// AppendRecord is appendRecord.
func AppendRecord(dst []byte, stream string, r *types.Record) []byte {
	return appendRecord(dst, stream, r)
}

// Explain is explain.
func Explain(operation string, err error) error { return explain(operation, err) }
