package partition

// Withdrawals is the number of times that the map gave its ranges up in the last day.
func (m *Map) Withdrawals() int { return len(m.trust.Withdrawn) }

// Evidence is the map's evidence.
func (m *Map) Evidence() float64 { return m.trust.Evidence }
