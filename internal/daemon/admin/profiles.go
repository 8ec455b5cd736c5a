package admin

import (
	"net/http"
	"net/http/pprof" //nolint:gosec // no server of ours serves http.DefaultServeMux
)

// handleProfiles serves Go's profiles to operators: whoever may only read could slow the
// daemon down. The command line is left out, because it may hold a password.
func (s *Server) handleProfiles() {
	for path, handler := range map[string]http.HandlerFunc{
		"": pprof.Index, "profile": pprof.Profile, "trace": pprof.Trace, "symbol": pprof.Symbol,
	} {
		s.mux.Handle("GET /debug/pprof/"+path, operatorsOnly(handler))
	}
	s.mux.Handle("GET /debug/pprof/cmdline", http.NotFoundHandler())
}

func operatorsOnly(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !Operates(r.Context()) {
			http.Error(w, "only operators may profile: add the user to the setting web.operators", http.StatusForbidden)
			return
		}
		h.ServeHTTP(w, r)
	})
}
