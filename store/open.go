package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite" // the database/sql driver "sqlite"
)

// Options are a store's settings in code.
type Options struct {
	// Migrate brings the schema up to date when the store is opened. Without
	// it Open rejects a schema that is not this program's. A database in
	// memory is always migrated.
	Migrate bool
}

// Open opens the database at a URL: "postgres://user@host/db?sslmode=verify-full" in
// libpq's words (the URL sets TLS and pool_max_conns), "sqlite:PATH", or
// "sqlite::memory:", which lives and dies with the Store.
//
// It fails with ErrSchemaOlder or ErrSchemaNewer when the schema is not this program's,
// and with ErrUnavailable when the database cannot be reached. Errors never hold a
// password.
func Open(ctx context.Context, rawURL string, o Options) (*Store, error) {
	s, err := open(rawURL, o.Migrate)
	if err != nil {
		return nil, err
	}
	if err := s.prepare(ctx, o); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Store) prepare(ctx context.Context, o Options) error {
	if err := s.ping(ctx); err != nil {
		return explainConnection(err)
	}
	inMemory := s.pool == nil && s.path == ""
	if o.Migrate || inMemory {
		_, err := s.migrate(ctx)
		return err
	}
	return s.checkSchema(ctx)
}

// closeTimeout bounds Close: pgx waits for 15 seconds for each server that does not
// answer, and a daemon has to end before it is killed.
const closeTimeout = time.Second

// Close closes the database. Connections to a server that does not answer are left to
// end by themselves.
func (s *Store) Close() error {
	closed := make(chan error, 1)
	go func() {
		err := s.write.Close()
		if s.read != s.write {
			err = errors.Join(err, s.read.Close())
		}
		if s.pool != nil {
			s.pool.Close()
		}
		closed <- err
	}()
	if s.pool == nil { // a file: nothing of it may go on
		return <-closed
	}
	select {
	case err := <-closed:
		return err
	case <-time.After(closeTimeout):
		return nil
	}
}

// Redact is a database URL that may be logged: without its passwords.
func Redact(rawURL string) string {
	u, err := url.Parse(rawURL)
	if err != nil {
		return "(a URL that cannot be parsed)"
	}
	if u.Scheme == "" || u.Opaque != "" && u.Scheme != "sqlite" {
		return "(a URL that cannot be parsed)" // libpq's form, also behind a scheme: host=… password=…
	}
	query := u.Query()
	for name := range query {
		if strings.Contains(strings.ToLower(name), "password") {
			query.Set(name, "xxxxx")
			u.RawQuery = query.Encode()
		}
	}
	return u.Redacted()
}

// open makes the pools; nothing is dialled yet. An SQLite file is made if create says so.
func open(rawURL string, create bool) (*Store, error) {
	scheme, rest, _ := strings.Cut(rawURL, ":")
	switch scheme {
	case "postgres", "postgresql":
		return openPostgres(rawURL)
	case "sqlite":
		return openSQLite(sqlitePath(rest), create)
	}
	return nil, errors.New(`open the store: the URL must begin with "postgres://" or "sqlite:"`)
}

func openPostgres(rawURL string) (*Store, error) {
	config, err := parsePostgres(rawURL)
	if err != nil {
		return nil, fmt.Errorf("open the store: %w", err)
	}
	if config.ConnConfig.RuntimeParams["application_name"] == "" {
		config.ConnConfig.RuntimeParams["application_name"] = "keyheat"
	}
	s := &Store{dialect: postgresDialect}
	config.BeforeConnect = s.logins.connect
	return s, s.usePool(config)
}

// usePool makes the pool of Postgres; nothing is dialled yet.
func (s *Store) usePool(config *pgxpool.Config) error {
	pool, err := pgxpool.NewWithConfig(context.Background(), config)
	if err != nil {
		return fmt.Errorf("open the store: %w", err)
	}
	db := stdlib.OpenDBFromPool(pool)
	s.write, s.read, s.pool = db, db, pool
	return nil
}

// Readers is how many connections [Store.OpenApart] and SQLite have for reading.
const Readers = 8

// OpenApart opens the same database with connections of its own, so that readers who use them up
// keep nobody else from it. A database in memory has no other connections.
func (s *Store) OpenApart() (*Store, error) {
	switch {
	case s.pool != nil:
		config := s.pool.Config()
		config.MaxConns, config.MinConns = Readers, 0
		apart := &Store{dialect: s.dialect}
		return apart, apart.usePool(config)
	case s.path != "":
		return openSQLite(s.path, true)
	}
	return &Store{dialect: s.dialect, write: s.write, read: s.read}, nil
}

// Reauthenticate makes new connections use the credentials of a URL of the same database:
// its password has changed. Open connections stay.
func (s *Store) Reauthenticate(rawURL string) error {
	if s.pool == nil {
		return nil
	}
	config, err := parsePostgres(rawURL)
	if err != nil {
		return fmt.Errorf("log in anew: %w", err)
	}
	s.logins.Store(&login{config.ConnConfig.User, config.ConnConfig.Password})
	return nil
}

const memory = ":memory:"

func openSQLite(path string, create bool) (*Store, error) {
	if path == "" {
		return nil, errors.New(`open the store: "sqlite:" needs a path, as in "sqlite:keyheat.db"`)
	}
	if path == memory {
		db, err := sqliteDB(memory, "_txlock=immediate", 1)
		return &Store{dialect: sqliteDialect, write: db, read: db}, err
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) && !create {
		if _, err := os.Stat(filepath.Dir(path)); err == nil {
			return nil, fmt.Errorf("%w: there is no file %s: correct store.url, or run `reporter migrate` to make it", ErrSchemaOlder, path)
		}
	}
	if err := createFile(path); err != nil {
		return nil, fmt.Errorf("open the store: %w%s", err, fileRemedy(path, err))
	}
	write, err := sqliteDB(path, patient+"&_txlock=immediate&_pragma=journal_mode(WAL)", 1)
	if err != nil {
		return nil, err
	}
	read, err := sqliteDB(path, patient+"&_pragma=query_only(1)", Readers)
	return &Store{dialect: sqliteDialect, write: write, read: read, path: path}, err
}

// createFile makes the file of an SQLite database, unless it is there. Keys can be personal
// data, so the file is its owner's alone; in a folder that gives its files to a group which may
// write there, it is the group's too, whatever the umask: a collector and a reporter of
// different users share it. SQLite gives the same rights to the files beside it.
func createFile(path string) error {
	mode := fs.FileMode(0o600)
	if folder, err := os.Stat(filepath.Dir(path)); err == nil && folder.Mode()&fs.ModeSetgid != 0 && folder.Mode()&0o020 != 0 {
		mode = 0o660
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, mode)
	switch {
	case err == nil:
		return errors.Join(file.Chmod(mode), file.Close())
	case !errors.Is(err, fs.ErrExist):
		return err
	}
	if file, err = os.OpenFile(path, os.O_RDWR, 0); err != nil {
		return err
	}
	return file.Close()
}

// fileRemedy returns the next step after a file could not be opened; empty if unknown.
func fileRemedy(path string, err error) string {
	self, _ := user.Current()
	owner := fileOwner(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Sprintf(": make the folder %s, or correct store.url", filepath.Dir(path))
	case !errors.Is(err, fs.ErrPermission) || self == nil:
		return ""
	case owner == "" || owner == self.Username:
		return fmt.Sprintf(": let the user %s write in the folder %s, or correct store.url", self.Username, filepath.Dir(path))
	}
	return fmt.Sprintf(": the file belongs to %s, and this program runs as %s: chown %s %s*", owner, self.Username, self.Username, path)
}

// patient lets SQLite wait for another process's transaction, in milliseconds,
// at each of maxTries.
const patient = "_pragma=busy_timeout(2000)"

// sqliteDB opens a pool that keeps its connections, as a database in memory
// must. synchronous(NORMAL) may lose the last commits when the power fails but
// never half of one: positions and deltas go back together and are read again.
func sqliteDB(path, settings string, connections int) (*sql.DB, error) {
	file := (&url.URL{Path: path}).EscapedPath()
	db, err := sql.Open("sqlite", "file:"+file+"?_time_format=sqlite&_timezone=UTC"+
		"&_pragma=synchronous(NORMAL)&"+settings)
	if err != nil {
		return nil, fmt.Errorf("open the store: %w", err)
	}
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	return db, nil
}

// sqlitePath is the path in "sqlite:path", "sqlite:/path" and "sqlite:///path".
func sqlitePath(rest string) string {
	if strings.HasPrefix(rest, "///") {
		return rest[2:]
	}
	return rest
}
