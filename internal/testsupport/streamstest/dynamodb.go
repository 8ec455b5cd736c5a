package streamstest

import (
	"maps"
	"slices"

	"github.com/keyheat/keyheat/internal/testsupport/streamstest/model"
)

type attributeDefinition struct{ AttributeName, AttributeType string }

type projection struct {
	ProjectionType   string
	NonKeyAttributes []string `json:",omitempty"`
}

type throughput struct{ ReadCapacityUnits, WriteCapacityUnits int }

type indexDescription struct {
	IndexName, IndexStatus, IndexArn string `json:",omitempty"`
	KeySchema                        []keyElement
	Projection                       projection
	ProvisionedThroughput            *throughput `json:",omitempty"`
}

type streamSpecification struct {
	StreamEnabled  bool
	StreamViewType string `json:",omitempty"`
}

// tableDescription is what CreateTable takes and DescribeTable answers.
type tableDescription struct {
	TableName, TableArn, TableId, TableStatus string
	CreationDateTime                          float64
	AttributeDefinitions                      []attributeDefinition
	KeySchema                                 []keyElement
	BillingMode                               string               `json:",omitempty"`
	BillingModeSummary                        *billingMode         `json:",omitempty"`
	ProvisionedThroughput                     *throughput          `json:",omitempty"`
	GlobalSecondaryIndexes                    []indexDescription   `json:",omitempty"`
	LocalSecondaryIndexes                     []indexDescription   `json:",omitempty"`
	StreamSpecification                       *streamSpecification `json:",omitempty"`
	LatestStreamArn, LatestStreamLabel        string               `json:",omitempty"`
	ItemCount                                 int
}

type billingMode struct{ BillingMode string }

type tableName struct{ TableName string }

// named is the table of that name or ARN, or the refusal.
func (f *Fake) named(name string, call *Call) (*Table, error) {
	call.Table = name
	for _, t := range f.tables {
		if name == t.schema.Name || name == t.ARN() {
			return t, nil
		}
	}
	return nil, refuse(codeNotFound, "Requested resource not found: Table: %s not found", name)
}

func (f *Fake) listTables(in struct {
	ExclusiveStartTableName string
	Limit                   *int
}, _ *Call) (any, error) {
	limit := 100
	if in.Limit != nil {
		limit = max(1, min(limit, *in.Limit))
	}
	names := []string{}
	for _, name := range slices.Sorted(maps.Keys(f.tables)) {
		if name > in.ExclusiveStartTableName {
			names = append(names, name)
		}
	}
	out := map[string]any{"TableNames": names}
	if len(names) > limit {
		out["TableNames"], out["LastEvaluatedTableName"] = names[:limit], names[limit-1]
	}
	return out, nil
}

func (f *Fake) describeTable(in tableName, call *Call) (any, error) {
	t, err := f.named(in.TableName, call)
	if err != nil {
		return nil, err
	}
	return map[string]any{"Table": t.description()}, nil
}

func (t *Table) description() tableDescription {
	d := tableDescription{
		TableName: t.schema.Name, TableArn: t.ARN(), TableId: t.schema.Name, TableStatus: "ACTIVE",
		CreationDateTime: seconds(t.created), KeySchema: elements(t.schema.Key), ItemCount: len(t.items),
		ProvisionedThroughput: throughputOf(t.schema.Provisioned),
	}
	if t.schema.Provisioned == nil {
		d.BillingModeSummary = &billingMode{"PAY_PER_REQUEST"}
		d.ProvisionedThroughput = &throughput{}
	}
	names := t.schema.Key.Names()
	for _, x := range t.schema.Indexes {
		names = append(names, x.Key.Names()...)
		one := indexDescription{
			IndexName: x.Name, IndexArn: t.ARN() + "/index/" + x.Name, KeySchema: elements(x.Key),
			Projection: projection{ProjectionType: x.Projection, NonKeyAttributes: x.Include},
		}
		if x.Projection == "" {
			one.Projection.ProjectionType = "ALL"
		}
		if x.Local {
			d.LocalSecondaryIndexes = append(d.LocalSecondaryIndexes, one)
			continue
		}
		one.IndexStatus, one.ProvisionedThroughput = "ACTIVE", throughputOf(x.Provisioned)
		d.GlobalSecondaryIndexes = append(d.GlobalSecondaryIndexes, one)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		d.AttributeDefinitions = append(d.AttributeDefinitions, attributeDefinition{name, t.schema.TypeOf(name)})
	}
	if t.stream != nil {
		d.LatestStreamArn, d.LatestStreamLabel = t.stream.arn, t.stream.label
		if t.streaming() {
			d.StreamSpecification = &streamSpecification{true, t.stream.view}
		}
	}
	return d
}

func throughputOf(t *model.Throughput) *throughput {
	if t == nil {
		return nil
	}
	return &throughput{t.Read, t.Write}
}

// serveCreate makes a table, which is active at once.
func (f *Fake) serveCreate(in tableDescription, call *Call) (any, error) {
	call.Table = in.TableName
	s := model.Schema{Name: in.TableName, Key: keyFrom(in.KeySchema), Types: map[string]string{}}
	for _, a := range in.AttributeDefinitions {
		s.Types[a.AttributeName] = a.AttributeType
	}
	if in.BillingMode != "PAY_PER_REQUEST" {
		s.Provisioned = throughputFrom(in.ProvisionedThroughput)
	}
	for _, x := range in.GlobalSecondaryIndexes {
		s.Indexes = append(s.Indexes, indexFrom(x, false))
	}
	for _, x := range in.LocalSecondaryIndexes {
		s.Indexes = append(s.Indexes, indexFrom(x, true))
	}
	t, err := f.createTable(s)
	if err != nil {
		return nil, err
	}
	if spec := in.StreamSpecification; spec != nil && spec.StreamEnabled {
		if err := t.enable(spec.StreamViewType); err != nil {
			delete(f.tables, s.Name)
			return nil, err
		}
	}
	return map[string]any{"TableDescription": t.description()}, nil
}

func keyFrom(elements []keyElement) (k model.Key) {
	for _, e := range elements {
		if e.KeyType == "HASH" {
			k.Partition = append(k.Partition, e.AttributeName)
		} else {
			k.Sort = append(k.Sort, e.AttributeName)
		}
	}
	return k
}

func throughputFrom(in *throughput) *model.Throughput {
	if in == nil {
		return &model.Throughput{}
	}
	return &model.Throughput{Read: in.ReadCapacityUnits, Write: in.WriteCapacityUnits}
}

func indexFrom(x indexDescription, local bool) model.Index {
	one := model.Index{
		Name: x.IndexName, Key: keyFrom(x.KeySchema), Local: local,
		Projection: x.Projection.ProjectionType, Include: x.Projection.NonKeyAttributes,
	}
	if x.ProvisionedThroughput != nil {
		one.Provisioned = throughputFrom(x.ProvisionedThroughput)
	}
	return one
}

// serveUpdateTable knows one change: that of the stream.
func (f *Fake) serveUpdateTable(in struct {
	TableName           string
	StreamSpecification *streamSpecification
}, call *Call) (any, error) {
	t, err := f.named(in.TableName, call)
	switch {
	case err != nil:
		return nil, err
	case in.StreamSpecification == nil:
		return nil, refuse(codeInvalid, "the fake updates nothing but a table's stream")
	case in.StreamSpecification.StreamEnabled:
		err = t.enable(in.StreamSpecification.StreamViewType)
	case !t.streaming():
		err = refuse(codeInvalid, "Table is already without a stream: TableName: %s", in.TableName)
	default:
		t.disable()
	}
	if err != nil {
		return nil, err
	}
	return map[string]any{"TableDescription": t.description()}, nil
}

func (f *Fake) serveDrop(in tableName, call *Call) (any, error) {
	t, err := f.named(in.TableName, call)
	if err != nil {
		return nil, err
	}
	d := t.description()
	d.TableStatus = "DELETING"
	f.dropTable(t.schema.Name)
	return map[string]any{"TableDescription": d}, nil
}
