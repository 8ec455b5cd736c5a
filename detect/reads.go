package detect

// InReads reports whether a finding is about read units: of a key by its kind, of others
// by the limit of a partition that is nearer.
func (f *Finding) InReads() bool {
	if f.Kind.OfKey() {
		return f.Kind == HotKeyRead
	}
	return f.Peak.RCU.Value/Units(PartitionRead) > f.Peak.WCU.Value/Units(PartitionWrite)
}
