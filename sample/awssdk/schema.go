package awssdk

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Schema names the key attributes of a table and of its indexes.
type Schema struct {
	// Partition and Sort are attribute names; Sort is empty when the table has
	// none.
	Partition, Sort string
	// Indexes are the secondary indexes, by name.
	Indexes map[string]Index
}

// Index names the key attributes of a secondary index, up to four of each.
type Index struct {
	Partition, Sort []string
	// Local is a local secondary index: it lives in the table's partitions, and
	// what it costs is charged to the table.
	Local bool
}

func (s Schema) check() error {
	if s.Partition == "" {
		return errors.New("name the partition key's attribute")
	}
	for name, x := range s.Indexes {
		if len(x.Partition) == 0 && !x.Local {
			return errors.New("name the partition key's attributes of index " + name)
		}
	}
	return nil
}

// describeFunc learns one table's schema.
type describeFunc func(ctx context.Context, table string) (Schema, error)

// describeTimeout bounds one DescribeTable with its retries.
const describeTimeout = 30 * time.Second

func describeBy(client *dynamodb.Client) describeFunc {
	return func(ctx context.Context, table string) (Schema, error) {
		ctx, cancel := context.WithTimeout(ctx, describeTimeout)
		defer cancel()
		out, err := client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &table})
		if err != nil {
			return Schema{}, err
		}
		return schemaOf(out.Table), nil
	}
}

func schemaOf(d *types.TableDescription) Schema {
	if d == nil {
		return Schema{}
	}
	var s Schema
	keys := indexOf(d.KeySchema)
	s.Partition, s.Sort = strings.Join(keys.Partition, ""), strings.Join(keys.Sort, "")
	s.Indexes = map[string]Index{}
	for _, g := range d.GlobalSecondaryIndexes {
		s.Indexes[aws.ToString(g.IndexName)] = indexOf(g.KeySchema)
	}
	for _, l := range d.LocalSecondaryIndexes {
		x := indexOf(l.KeySchema)
		x.Local = true
		s.Indexes[aws.ToString(l.IndexName)] = x
	}
	return s
}

func indexOf(elements []types.KeySchemaElement) (x Index) {
	for _, e := range elements {
		if e.KeyType == types.KeyTypeHash {
			x.Partition = append(x.Partition, aws.ToString(e.AttributeName))
		} else {
			x.Sort = append(x.Sort, aws.ToString(e.AttributeName))
		}
	}
	return x
}

// maxSchemas bounds the tables that are remembered, learned or asked for.
const maxSchemas = 1000

// schemas holds what is known of the tables. A table is asked for once; one
// that could not be described is not asked for again.
type schemas struct {
	describe describeFunc
	worker   *worker
	count    *counters

	mu    sync.RWMutex
	known map[string]*Schema // nil: asked for, no answer
}

func newSchemas(given map[string]Schema, describe describeFunc, w *worker, count *counters) *schemas {
	s := &schemas{describe: describe, worker: w, count: count, known: map[string]*Schema{}}
	for table, schema := range given {
		s.known[table] = &schema
	}
	return s
}

// of is the table's schema, or nil when it is not known, or not yet.
func (s *schemas) of(table string) *Schema {
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
	s.worker.beside(func(ctx context.Context) {
		schema, err := s.describe(ctx, table)
		if err != nil || schema.check() != nil {
			s.count.describeErrors.Add(1)
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.known[table] = &schema
	})
}

// tableName is the bare name of a table that may be given by its ARN.
func tableName(name *string) string {
	text := aws.ToString(name)
	if !strings.HasPrefix(text, "arn:") {
		return text
	}
	_, text, _ = strings.Cut(text, ":table/")
	text, _, _ = strings.Cut(text, "/")
	return text
}
