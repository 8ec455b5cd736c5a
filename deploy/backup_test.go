package deploy_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/keyheat/keyheat/internal/testsupport/pgtest"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

// TestBackupAndRestore runs the commands of docs/BACKUP.md on a database in use, changes the
// database, restores it, and finds what was in it at the time of the backup.
func TestBackupAndRestore(t *testing.T) {
	t.Parallel()
	commands := backupCommands(t)
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		if _, err := exec.LookPath("sqlite3"); err != nil {
			t.Skip("there is no sqlite3 here")
		}
		dir := t.TempDir()
		url := "sqlite:" + filepath.Join(dir, "keyheat.db")
		backUpAndRestore(t, url, url, func(restore bool) {
			command := commands["SQLite"][0]
			if restore {
				command = commands["SQLite"][1]
			}
			shell(t, dir, command, nil)
		})
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		url, restored := pgtest.Database(t), pgtest.Database(t)
		bin := os.Getenv("PGBIN")
		if bin == "" {
			t.Skip("PGBIN is not set")
		}
		dir := t.TempDir()
		backUpAndRestore(t, url, restored, func(restore bool) {
			database, command := url, commands["Postgres"][0]
			if restore {
				database, command = restored, commands["Postgres"][1]
			}
			shell(t, dir, command, []string{"DATABASE=" + database, "PATH=" + bin + ":" + os.Getenv("PATH")})
		})
	})
}

// block finds a command of the page.
var block = regexp.MustCompile("(?m)^```sh\n((?:.*\n)*?)```$")

// backupCommands returns the commands of the page by engine: the backup, then the
// restoration.
func backupCommands(t *testing.T) map[string][]string {
	t.Helper()
	page, err := os.ReadFile("../docs/BACKUP.md")
	must(t, err)
	all := make(map[string][]string)
	for _, title := range []string{"SQLite", "Postgres"} {
		_, part, _ := strings.Cut(string(page), "\n## "+title+"\n")
		part, _, _ = strings.Cut(part, "\n## ")
		for _, b := range block.FindAllStringSubmatch(part, -1) {
			all[title] = append(all[title], b[1])
		}
		if len(all[title]) != 2 {
			t.Fatalf("%s has the commands %q", title, all[title])
		}
	}
	return all
}

func shell(t *testing.T, dir, command string, environ []string) {
	t.Helper()
	c := exec.CommandContext(t.Context(), "sh", "-e", "-c", command)
	c.Dir, c.Env = dir, append(os.Environ(), environ...)
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", command, err, out)
	}
}

// backUpAndRestore fills a database, backs it up while it is open, changes it, and looks
// what the restored one holds.
func backUpAndRestore(t *testing.T, url, restored string, do func(restore bool)) {
	t.Helper()
	db, err := store.Open(t.Context(), url, store.Options{Migrate: true})
	must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	partition := store.PartitionID{Source: "kafka:keyheat", Name: "samples/0"}
	claim, err := db.Claim(t.Context(), "a", store.Claim{PartitionID: partition, First: "0"})
	must(t, err)
	move := func(seq int64, from, to string) {
		t.Helper()
		must(t, db.Commit(t.Context(), store.Commit{Writer: "a", Seq: seq, Moves: []store.Move{{PartitionID: partition, Epoch: claim.Epoch, From: from, To: to}}}))
	}
	move(1, "0", "100")
	judgeIncident(t, db, "before")

	do(false)
	move(2, "100", "200")
	judgeIncident(t, db, "after")
	must(t, db.Close())
	do(true)

	db, err = store.Open(t.Context(), restored, store.Options{})
	must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	heads, err := db.IncidentHeads(t.Context(), store.HeadQuery{})
	must(t, err)
	var ids []string
	for _, h := range heads {
		ids = append(ids, h.ID)
	}
	if !slices.Equal(ids, []string{"before"}) {
		t.Errorf("the incidents are %q", ids)
	}
	claim, err = db.Claim(t.Context(), "b", store.Claim{PartitionID: partition, First: "0"})
	must(t, err)
	if claim.Next != "100" {
		t.Errorf("reading goes on at %s, not at the backup's position", claim.Next)
	}
}

// judgeIncident stores an incident.
func judgeIncident(t *testing.T, db *store.Store, id string) {
	t.Helper()
	lease, mine, err := db.AcquireLease(t.Context(), store.JudgeLease, "test", time.Minute)
	if err != nil || !mine {
		t.Fatalf("lease: %t, %v", mine, err)
	}
	now := time.Now()
	must(t, db.Judge(t.Context(), lease, store.Judgement{Incidents: []store.Incident{{
		ID: id, Target: sample.Target{Table: "orders"}, Case: "hot_key", Subject: "key_writes", Severity: "critical", State: "firing", OpenedAt: now, LastSeen: now, Root: id, Document: []byte(`{}`),
	}}}))
}
