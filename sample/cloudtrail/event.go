package cloudtrail

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/change"
)

// event has the fields of an event's JSON that samples need.
type event struct {
	ID        string `json:"eventID"`
	Time      string `json:"eventTime"`
	Source    string `json:"eventSource"`
	Name      string `json:"eventName"`
	Region    string `json:"awsRegion"`
	Error     string `json:"errorCode"`
	Message   string `json:"errorMessage"`
	Account   string `json:"recipientAccountId"`
	Principal struct {
		ARN string `json:"arn"`
	} `json:"userIdentity"`
	Request struct {
		target
		IndexName      string `json:"indexName"`
		ConsistentRead bool   `json:"consistentRead"`
		// Items has a documented form only for transactions.
		Items json.RawMessage `json:"requestItems"`
	} `json:"requestParameters"`
	Resources []struct {
		ARN string `json:"ARN"`
	} `json:"resources"`
}

// target is a table and a key that a request named. Some of its names are written with a
// capital.
type target struct {
	Table string                     `json:"tableName"`
	Key   map[string]json.RawMessage `json:"key"`
}

// base returns the common fields of an event's samples.
func (e *event) base() (sample.Record, sample.RejectReason) {
	r := sample.Record{
		Rate: 1, N: 1, Estimated: true, Index: e.Request.IndexName,
		Caller: e.Principal.ARN, Account: e.account(), Region: e.Region, ID: e.ID,
	}
	var known bool
	if r.Op, known = sample.ParseOp(e.Name); !known || e.Source != "dynamodb.amazonaws.com" {
		return r, RejectNotRequest
	}
	at, err := time.Parse(time.RFC3339, e.Time)
	if err != nil {
		return r, sample.RejectBadTime
	}
	r.Time = at.UnixMilli()
	switch {
	case r.Op == sample.TransactGetItems:
		r.Read = sample.Transactional
	case r.Op.IsRead() && e.Request.ConsistentRead:
		r.Read = sample.Strong
	}
	r.RCU, r.WCU, _ = sample.EstimateUnits(r.Op, 0, r.Read)
	return r, ""
}

// end records the error of one of the request's items, and returns false if its cost is unknown.
func (e *event) end(r *sample.Record, item, items int) bool {
	if e.Error != "TransactionCanceledException" {
		return e.Error == "" || r.End(e.Error)
	}
	codes := sample.ParseCancellation(e.Message)
	return len(codes) == items && r.End(codes[item])
}

// account returns the table's account, which may differ from the caller's.
func (e *event) account() string {
	for _, resource := range e.Resources {
		if parts := strings.SplitN(resource.ARN, ":", 6); len(parts) == 6 {
			return parts[4]
		}
	}
	return e.Account
}

// targets returns the keys that the request names, at least one, or the reject reason.
func (e *event) targets(op sample.Op) ([]target, sample.RejectReason) {
	switch op {
	case sample.Scan:
		return []target{{Table: e.Request.Table}}, ""
	case sample.Query:
		return nil, RejectQuery
	case sample.BatchGetItem, sample.BatchWriteItem:
		return nil, RejectBatch
	case sample.ExecuteStatement, sample.BatchExecuteStatement, sample.ExecuteTransaction:
		return nil, RejectStatement
	case sample.TransactGetItems, sample.TransactWriteItems:
		var items []target
		if json.Unmarshal(e.Request.Items, &items) != nil || len(items) == 0 {
			return nil, RejectTransaction
		}
		return items, ""
	}
	return []target{e.Request.target}, ""
}

// fill copies the target into a record, and returns the reject reason if it is wrong.
func (t *target) fill(r *sample.Record, tables sample.Schemas) sample.RejectReason {
	r.Locate(t.Table)
	if t.Key == nil && r.Op == sample.Scan {
		return r.Check()
	}
	if t.Key == nil && (r.Op == sample.TransactGetItems || r.Op == sample.TransactWriteItems) {
		return RejectTransaction
	}
	keys := make(map[string]sample.Key, len(t.Key))
	for name, raw := range t.Key {
		k, ok := readKey(raw)
		if !ok {
			return sample.RejectBadKey
		}
		keys[name] = k
	}
	var reason sample.RejectReason
	schema, _ := sample.Lookup(tables, r.Target())
	if r.PK, r.SK, reason = change.SplitKeys(schema.KeySchema, keys); reason != "" {
		return reason
	}
	return r.Check()
}

// readKey reads a key attribute, plain or in DynamoDB JSON.
func readKey(raw json.RawMessage) (sample.Key, bool) {
	switch raw[0] {
	case '"':
		var text string
		err := json.Unmarshal(raw, &text)
		return sample.KeyString(text), err == nil && text != ""
	case '{':
		var v change.Value
		if json.Unmarshal(raw, &v) != nil {
			return sample.Key{}, false
		}
		return v.Key()
	}
	k, err := sample.KeyNumber(string(raw))
	return k, err == nil
}
