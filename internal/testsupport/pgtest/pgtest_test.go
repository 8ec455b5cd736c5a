package pgtest_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/keyheat/keyheat/internal/testsupport/await"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/internal/testsupport/pgtest"
)

func TestMain(m *testing.M) {
	if os.Getenv("PGTEST_CHILD") != "" {
		child()
	}
	os.Exit(m.Run())
}

// child starts a server, says where, and waits to be killed.
func child() {
	s, err := pgtest.New(context.Background())
	if err != nil {
		panic(err)
	}
	fmt.Println(s.URL("postgres"))
	select {}
}

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	must.Succeed(t, err)
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

func TestDatabasesAreApart(t *testing.T) {
	t.Parallel()
	first, second := pgtest.Database(t), pgtest.Database(t)
	if _, err := connect(t, first).Exec(t.Context(), `CREATE TABLE here (a INTEGER)`); err != nil {
		t.Fatal(err)
	}
	var tables int
	err := connect(t, second).QueryRow(t.Context(),
		`SELECT count(*) FROM pg_class WHERE relname = 'here'`).Scan(&tables)
	if err != nil || tables != 0 {
		t.Errorf("the second database has %d of the first's tables (%v), want 0", tables, err)
	}
}

func TestKilledServerKeepsWhatWasCommitted(t *testing.T) {
	t.Parallel()
	s := pgtest.Run(t)
	conn := connect(t, s.URL("postgres"))
	if _, err := conn.Exec(t.Context(), `CREATE TABLE kept AS SELECT 7 AS seven`); err != nil {
		t.Fatal(err)
	}
	must.Succeed(t, s.Kill())
	if _, err := conn.Exec(t.Context(), `SELECT 1`); err == nil {
		t.Error("the server still answers after Kill")
	}
	must.Succeed(t, s.Start(t.Context()))
	var seven int
	err := connect(t, s.URL("postgres")).QueryRow(t.Context(), `SELECT seven FROM kept`).Scan(&seven)
	if err != nil || seven != 7 {
		t.Errorf("after the restart the table holds %d (%v), want 7", seven, err)
	}
}

// TestPromotedStandbyHasWhatItReceived, and not what was committed while it was cut off.
func TestPromotedStandbyHasWhatItReceived(t *testing.T) {
	t.Parallel()
	primary := pgtest.Run(t)
	replication, from := pgtest.Through(t, primary.URL("postgres"))
	standby := pgtest.Standby(t, primary, from)
	conn := connect(t, primary.URL("postgres"))
	if _, err := conn.Exec(t.Context(), `CREATE TABLE numbers AS SELECT 1 AS number`); err != nil {
		t.Fatal(err)
	}
	reader := connect(t, standby.URL("postgres"))
	count := func(c *pgx.Conn) (n int) {
		if err := c.QueryRow(t.Context(), `SELECT count(*) FROM numbers`).Scan(&n); err != nil {
			return 0 // it is not there yet
		}
		return n
	}
	await.Until(t, "the standby follows", func() bool { return count(reader) == 1 })
	if _, err := reader.Exec(t.Context(), `INSERT INTO numbers VALUES (2)`); err == nil {
		t.Error("the standby takes a write before it is promoted")
	}
	replication.Cut()
	if _, err := conn.Exec(t.Context(), `INSERT INTO numbers VALUES (2)`); err != nil {
		t.Fatal(err)
	}
	must.Succeed(t, primary.Kill())
	must.Succeed(t, standby.Promote(t.Context()))
	promoted := connect(t, standby.URL("postgres"))
	if n := count(promoted); n != 1 {
		t.Errorf("the promoted standby has %d rows, want the one that it received", n)
	}
	if _, err := promoted.Exec(t.Context(), `INSERT INTO numbers VALUES (3)`); err != nil {
		t.Errorf("the promoted standby takes no write: %v", err)
	}
}

func TestServerEndsWithItsProcess(t *testing.T) {
	t.Parallel()
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), "PGTEST_CHILD=1")
	out, err := command.StdoutPipe()
	must.Succeed(t, err)
	command.Stderr = os.Stderr
	must.Succeed(t, command.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	if errors.Is(err, io.EOF) && os.Getenv("CI") != "true" {
		t.Skip("no server could be started, see above")
	}
	address, err := url.Parse(line[:max(0, len(line)-1)])
	must.Succeed(t, err)
	must.Succeed(t, command.Process.Kill())
	_ = command.Wait()
	await.Until(t, "the server ends, as the process that started it", func() bool {
		conn, err := net.Dial("tcp", address.Host)
		if err == nil {
			conn.Close()
		}
		return err != nil
	})
}
