package wire

import "net"

const (
	// minWhole is the smallest read that waits for all its bytes.
	minWhole = 64 << 10
	// maxWhole bounds the bytes that a read waits for, since the kernel holds them
	// meanwhile. It is the size of the usual fetch.
	maxWhole = 1 << 20
)

// conn sets SO_RCVLOWAT, so that the reader of a Kafka response wakes once, when the whole
// response has arrived. To wake for each piece costs a fifth of all reading. Only Linux has
// the option; elsewhere a connection stays as it is.
//
// The bytes of a large read must be certain to come, as with [io.ReadFull].
type conn struct {
	net.Conn
	set  func(bytes int) // sets how many bytes wake the reader
	mark int             // current value; 0 for the system's default, 1
}

func (c *conn) Read(p []byte) (int, error) {
	mark := 1
	if len(p) >= minWhole {
		mark = min(len(p), maxWhole)
	}
	if mark != max(c.mark, 1) {
		c.set(mark)
		c.mark = mark
	}
	return c.Conn.Read(p)
}
