package admin_test

import (
	"log/slog"
	"net/http"
	"testing"

	"github.com/keyheat/keyheat/internal/daemon/admin"
)

// TestForeignHostsAreMisdirected: a name that somebody else has point here reads
// nothing, on no path.
func TestForeignHostsAreMisdirected(t *testing.T) {
	t.Parallel()
	s, err := admin.Open(t.Context(), admin.Options{Address: "127.0.0.1:0", Hosts: []string{"keyheat.example.com"}}, slog.New(slog.DiscardHandler))
	must(t, err)
	s.Handle("GET /page", http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	run(t, s)
	for host, want := range map[string]int{
		"127.0.0.1:9460": http.StatusOK, "10.1.2.3": http.StatusOK, "[::1]:9460": http.StatusOK, "[fe80::1]:1": http.StatusOK,
		"localhost": http.StatusOK, "LOCALHOST:9460": http.StatusOK, "localhost.": http.StatusOK, "demo.localhost:1": http.StatusOK,
		"keyheat.example.com": http.StatusOK, "Keyheat.Example.com:443": http.StatusOK,
		"evil.example": http.StatusMisdirectedRequest, "keyheat.example.com.evil.example": http.StatusMisdirectedRequest,
		"127.0.0.1.evil.example": http.StatusMisdirectedRequest, "localhost.evil.example": http.StatusMisdirectedRequest,
		"2130706433": http.StatusMisdirectedRequest, "0x7f.1": http.StatusMisdirectedRequest, "evil.example:80": http.StatusMisdirectedRequest,
	} {
		for _, path := range []string{"/-/healthy", "/-/ready", "/metrics", "/page"} {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+s.Addr()+path, nil)
			must(t, err)
			request.Host = host
			response, err := client.Do(request)
			must(t, err)
			_ = response.Body.Close()
			if response.StatusCode != want {
				t.Errorf("%s to host %q returns %d, want %d", path, host, response.StatusCode, want)
			}
		}
	}
}
