//go:build e2e

package conformance_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestHotIndexKeyFromNode has a program in Node query one key of a global index for some seconds,
// and analyze name the key and its caller from the program's log lines.
func TestHotIndexKeyFromNode(t *testing.T) {
	ensureNode(t)
	dynamodb := newStub(t, "")
	dynamodb.arm([]answer{{Body: json.RawMessage(`{"Items": [], "Count": 0, "ScannedCount": 0, "ConsumedCapacity": {"TableName": "orders",
		"CapacityUnits": 200, "Table": {"CapacityUnits": 0}, "GlobalSecondaryIndexes": {"by-status": {"CapacityUnits": 200}}}}`)}})
	program := exec.CommandContext(t.Context(), "node", "--no-warnings", "../node/test/hot.mjs", dynamodb.URL, "4")
	program.Stderr = t.Output()
	samples, err := program.Output()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "samples.ndjson")
	if err := os.WriteFile(file, samples, 0o600); err != nil {
		t.Fatal(err)
	}
	reporter := exec.CommandContext(t.Context(), "go", "run", "../../cmd/reporter", "analyze", "-o", "json", file)
	reporter.Stderr = t.Output()
	out, err := reporter.Output()
	if err != nil {
		t.Fatal(err)
	}
	var verdict struct {
		Findings []struct{ Case, Table, Index, Key, Summary string }
	}
	if err := json.Unmarshal(out, &verdict); err != nil {
		t.Fatal(err)
	}
	if len(verdict.Findings) != 1 {
		t.Fatalf("%d findings, want one of the hot key: %s", len(verdict.Findings), out)
	}
	found := verdict.Findings[0]
	if found.Case != "hot_key" || found.Table != "orders" || found.Index != "by-status" || found.Key != "open" {
		t.Errorf("the finding is %+v", found)
	}
	if !strings.Contains(found.Summary, "“checkout”") {
		t.Errorf("the summary does not name the caller: %s", found.Summary)
	}
}
