//go:build !unix

package store

// fileOwner returns nothing: only Unix has owners with rights.
func fileOwner(string) string { return "" }

// Without file locks that end with the process there are no sessions on SQLite.

func beginFileSession(string) (session int64, end func()) { return 0, func() {} }

func fileSessionEnded(string, int64) bool { return false }
