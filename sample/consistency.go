package sample

var consistencyNames = [...]string{
	Eventual: "eventual", Strong: "strong", Transactional: "transactional",
}

// String returns the consistency's name in Keyheat JSON.
func (c Consistency) String() string {
	if int(c) < len(consistencyNames) {
		return consistencyNames[c]
	}
	return ""
}

// ParseConsistency parses the consistency's name in Keyheat JSON.
func ParseConsistency(name string) (Consistency, bool) {
	for c, known := range consistencyNames {
		if name == known {
			return Consistency(c), true
		}
	}
	return Eventual, false
}
