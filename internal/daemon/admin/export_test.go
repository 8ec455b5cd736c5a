package admin

// LimitConnections sets the number of connections at a time, before Run.
func (s *Server) LimitConnections(n int) { s.connections = n }
