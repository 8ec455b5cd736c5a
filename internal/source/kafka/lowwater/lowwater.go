// Package lowwater reads what is known to come. The reader of a response of 1 MiB is
// woken when all of it has arrived, and not for each of the pieces in which it does: that
// is a fifth of what reading costs.
//
// Linux alone does so; elsewhere a connection stays as it is.
package lowwater

import "net"

const (
	// least is the smallest read that waits for all of it.
	least = 64 << 10
	// most is the most that is waited for: the system holds it until it is read. It is as
	// much as the usual fetch.
	most = 1 << 20
)

// conn is a connection whose large reads are of bytes that come for certain, as those of
// [io.ReadFull] are.
type conn struct {
	net.Conn
	set  func(bytes int) // sets how much wakes the reader
	mark int             // what it was set to; 0 for the system's own, 1
}

// Read implements net.Conn.
func (c *conn) Read(p []byte) (int, error) {
	mark := 1
	if len(p) >= least {
		mark = min(len(p), most)
	}
	if mark != max(c.mark, 1) {
		c.set(mark)
		c.mark = mark
	}
	return c.Conn.Read(p)
}
