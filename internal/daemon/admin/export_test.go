package admin

// LimitConnections sets the number of connections at a time, before Run.
func (s *Server) LimitConnections(n int) { s.listener.places = n }

// LimitWaiting sets the number of connections that may wait, and the memory of their headers,
// before Run.
func (s *Server) LimitWaiting(n int, bytes int64) { s.listener.most, s.listener.free = n, bytes }
