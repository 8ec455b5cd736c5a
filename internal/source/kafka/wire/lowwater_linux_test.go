package wire_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/keyheat/keyheat/internal/source/kafka/wire"
	"github.com/keyheat/keyheat/internal/testsupport/await"
	"github.com/keyheat/keyheat/internal/testsupport/must"
)

// pair returns the two ends of a connection, and how many bytes wake who reads the first.
func pair(t *testing.T) (reader, writer *net.TCPConn, mark func() int) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must.Succeed(t, err)
	defer l.Close()
	dialed, err := net.Dial("tcp", l.Addr().String())
	must.Succeed(t, err)
	accepted, err := l.Accept()
	must.Succeed(t, err)
	t.Cleanup(func() { dialed.Close(); accepted.Close() })
	reader, writer = dialed.(*net.TCPConn), accepted.(*net.TCPConn)
	raw, err := reader.SyscallConn()
	must.Succeed(t, err)
	return reader, writer, func() (n int) {
		err := raw.Control(func(fd uintptr) {
			n, _ = syscall.GetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVLOWAT)
		})
		if err != nil {
			t.Error(err)
		}
		return n
	}
}

// TestALargeReadWaitsForAll reads small and large responses in turn. Large reads wait for
// all bytes, and small reads after them return as usual.
func TestALargeReadWaitsForAll(t *testing.T) {
	t.Parallel()
	raw, writer, mark := pair(t)
	reader := wire.WakeOnce(raw)
	deadline := time.Now().Add(await.Limit)
	must.Succeed(t, reader.SetDeadline(deadline))
	for _, size := range []int{10, 300 << 10, 1, 5 << 20, 64 << 10, 7} {
		message := bytes.Repeat([]byte{byte(size), 'x', byte(size >> 10)}, size/3+1)[:size]
		got, read := make([]byte, size), make(chan error, 1)
		go func() { _, err := io.ReadFull(reader, got); read <- err }()
		want := 1
		if size >= 64<<10 {
			want = min(size, 1<<20)
		}
		for mark() != want {
			if runtime.Gosched(); time.Now().After(deadline) {
				t.Fatalf("%d bytes wake who reads %d, want %d", mark(), size, want)
			}
		}
		if _, err := writer.Write(message); err != nil {
			t.Fatal(err)
		}
		if err := <-read; err != nil || !bytes.Equal(got, message) {
			t.Fatalf("a message of %d bytes: %v", size, err)
		}
	}
}

// TestALargeReadEndsWithTheConnection has less come than is waited for.
func TestALargeReadEndsWithTheConnection(t *testing.T) {
	t.Parallel()
	raw, writer, _ := pair(t)
	reader := wire.WakeOnce(raw)
	must.Succeed(t, reader.SetDeadline(time.Now().Add(await.Limit)))
	if _, err := writer.Write(make([]byte, 100)); err != nil {
		t.Fatal(err)
	}
	must.Succeed(t, writer.Close())
	if n, err := io.ReadFull(reader, make([]byte, 1<<20)); n != 100 || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("read %d bytes, %v", n, err)
	}
}
