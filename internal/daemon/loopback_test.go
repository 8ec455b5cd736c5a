package daemon_test

import (
	"testing"

	"github.com/keyheat/keyheat/internal/daemon"
)

func TestHost(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]bool{
		"localhost": true, "127.0.0.1": true, "127.9.9.9": true, "::1": true, "::ffff:127.0.0.1": true,
		"": false, "0.0.0.0": false, "::": false, "10.0.0.7": false, "example.org": false, "localhost.example.org": false,
	} {
		if daemon.IsLoopbackHost(host) != want {
			t.Errorf("%q: %v", host, !want)
		}
	}
	for address, want := range map[string]bool{"localhost:1": true, "[::1]:9460": true, "127.0.0.1": false, ":9460": false, "10.0.0.7:1": false} {
		if daemon.IsLoopbackAddress(address) != want {
			t.Errorf("%q: %v", address, !want)
		}
	}
}
