//go:build !unix

package store

// Without file locks that end with the process there are no sessions on SQLite.

func beginFileSession(string) (session int64, end func()) { return 0, func() {} }

func fileSessionEnded(string, int64) bool { return false }
