package awssdk

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/keyheat/keyheat/sample"
)

func checkSchema(s sample.Schema) error {
	if len(s.PartitionKey) == 0 {
		return errors.New("name the partition key's attribute")
	}
	return s.Validate()
}

// describeFunc returns one table's schema.
type describeFunc func(ctx context.Context, table string) (sample.Schema, error)

// describeTimeout bounds one DescribeTable call with its retries.
const describeTimeout = 30 * time.Second

func describeBy(client *dynamodb.Client) describeFunc {
	return func(ctx context.Context, table string) (sample.Schema, error) {
		ctx, cancel := context.WithTimeout(ctx, describeTimeout)
		defer cancel()
		out, err := client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &table})
		if err != nil {
			return sample.Schema{}, err
		}
		return schemaOf(out.Table), nil
	}
}

func schemaOf(d *types.TableDescription) sample.Schema {
	if d == nil {
		return sample.Schema{}
	}
	s := sample.Schema{KeySchema: keySchemaOf(d.KeySchema), Indexes: map[string]sample.IndexSchema{}}
	for _, g := range d.GlobalSecondaryIndexes {
		s.Indexes[aws.ToString(g.IndexName)] = sample.IndexSchema{KeySchema: keySchemaOf(g.KeySchema)}
	}
	for _, l := range d.LocalSecondaryIndexes {
		s.Indexes[aws.ToString(l.IndexName)] = sample.IndexSchema{KeySchema: keySchemaOf(l.KeySchema), Local: true}
	}
	return s
}

func keySchemaOf(elements []types.KeySchemaElement) (k sample.KeySchema) {
	for _, e := range elements {
		if e.KeyType == types.KeyTypeHash {
			k.PartitionKey = append(k.PartitionKey, aws.ToString(e.AttributeName))
		} else {
			k.SortKey = append(k.SortKey, aws.ToString(e.AttributeName))
		}
	}
	return k
}

// maxSchemas is the most tables that are remembered, described or not.
const maxSchemas = 1000

// schemas holds the known schemas. It describes each table once, and does not repeat a failed
// attempt.
type schemas struct {
	describe describeFunc
	worker   *worker
	count    *counters

	mu    sync.RWMutex
	known map[string]*sample.Schema // nil: asked for, without an answer
}

func newSchemas(given map[string]sample.Schema, describe describeFunc, w *worker, count *counters) *schemas {
	s := &schemas{describe: describe, worker: w, count: count, known: map[string]*sample.Schema{}}
	for table, schema := range given {
		s.known[table] = &schema
	}
	return s
}

// Schema returns the table's schema, or nil while it is unknown.
func (s *schemas) Schema(table string) *sample.Schema {
	s.mu.RLock()
	schema, asked := s.known[table]
	s.mu.RUnlock()
	if !asked && s.describe != nil {
		s.ask(table)
	}
	return schema
}

func (s *schemas) ask(table string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, asked := s.known[table]; asked || len(s.known) >= maxSchemas {
		return
	}
	s.known[table] = nil
	s.worker.runBeside(func(ctx context.Context) {
		schema, err := s.describe(ctx, table)
		if err != nil || checkSchema(schema) != nil {
			s.count.describeErrors.Add(1)
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.known[table] = &schema
	})
}
