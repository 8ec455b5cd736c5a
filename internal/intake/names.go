package intake

import (
	"slices"
	"strings"
)

// synonyms are other people's names of the fields of a sample, the likeliest first, in lower case
// and without word separators.
var synonyms = map[string][]string{
	"ts":       {"ts", "timestamp", "time", "eventtime", "datetime", "date", "requesttime", "starttime", "when", "at", "createdat", "t", "zeit", "zeitpunkt", "zeitstempel", "datum"},
	"table":    {"table", "tablename", "dynamodbtable", "ddbtable", "dynamotable", "tbl", "tblname", "ddbtbl"},
	"pk":       {"pk", "partitionkey", "hashkey", "hash", "key", "partition", "itemkey", "id"},
	"sk":       {"sk", "sortkey", "rangekey", "range"},
	"op":       {"op", "operation", "operationname", "action", "method", "command", "eventname", "api", "verb", "type", "aktion", "vorgang"},
	"wcu":      {"wcu", "writeunits", "consumedwcu", "writecapacityunits", "consumedwritecapacityunits", "consumedwritecapacity", "writecapacity", "ddbwcu", "dynamodbwcu"},
	"rcu":      {"rcu", "readunits", "consumedrcu", "readcapacityunits", "consumedreadcapacityunits", "consumedreadcapacity", "readcapacity", "ddbrcu", "dynamodbrcu"},
	"units":    {"units", "capacityunits", "consumedunits", "consumedcapacityunits", "consumedcapacity", "capacity", "consumed", "cu", "einheiten", "verbrauchteeinheiten"},
	"bytes":    {"bytes", "size", "itemsize", "sizebytes", "itembytes", "itemsizebytes", "sizeinbytes", "length", "größe", "größebytes"},
	"read":     {"read", "consistentread"},
	"throttle": {"throttle", "throttled", "isthrottled", "wasthrottled", "throttlereason", "throttlingreason", "gedrosselt"},
}

// subjects are other people's names of keys: what a table has an item, or items, of.
var subjects = map[string][]string{
	"pk": {"customer", "customerid", "user", "userid", "tenant", "tenantid", "device", "deviceid", "account", "accountid", "kunde", "kundennummer"},
	"sk": {"order", "orderid", "ordernumber", "event", "eventid", "item", "itemid", "product", "productid", "invoice", "invoiceid", "auftrag", "bestellung"},
}

// notKeys are what the names of fields end with that are no keys of a table: of the request, of
// the log, of the machine.
var notKeys = []string{"traceid", "spanid", "requestid", "messageid", "logid", "parentid", "processid", "sequenceid", "pid", "level", "msg", "message", "status", "host", "hostname", "region", "logstream", "loggroup", "caller", "service"}

// plain returns a name in lower case and without word separators.
func plain(name string) string { return joints.Replace(strings.ToLower(name)) }

var joints = strings.NewReplacer("_", "", "-", "", " ", "", "@", "", ".", "", "/", "", "(", "", ")", "", "[", "", "]", "")

// last returns the last name of a path.
func last(path string) string { return path[strings.LastIndexByte(path, '.')+1:] }

// isCalled returns the place of a path's name in a list of names, -1 for none.
func isCalled(path string, names []string) int {
	if at := slices.Index(names, plain(last(path))); at >= 0 {
		return at
	}
	return slices.Index(names, plain(path))
}

// nearness is how likely a name is a partition key's, the higher the likelier; 0 tells nothing.
func nearness(path string) int {
	name, parent := plain(last(path)), ""
	if at := strings.LastIndexByte(path, '.'); at >= 0 {
		parent = plain(last(path[:at]))
	}
	switch at := isCalled(path, synonyms["pk"]); {
	case at >= 0 && name != "id":
		return 100 - at
	case parent == "key" || parent == "keys":
		return inKey
	case slices.Contains(subjects["pk"], name):
		return 80
	case isNoKey(path):
		return 0
	case slices.Contains(subjects["sk"], name):
		return 50
	case name == "id" || strings.HasSuffix(name, "id") || strings.HasSuffix(name, "key"):
		return 40
	}
	return 0
}

// isNoKey reports whether a name is of something else than a key.
func isNoKey(path string) bool {
	name := plain(last(path))
	return slices.ContainsFunc(notKeys, func(end string) bool { return strings.HasSuffix(name, end) })
}

// inKey is the nearness of the attributes of a key, one of which is the partition key. From
// sureKey on a name is enough, below it another one as near leaves it open.
const inKey, sureKey = 90, 80
