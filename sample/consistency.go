package sample

var consistencyNames = [...]string{
	Eventual: "eventual", Strong: "strong", Transactional: "transactional",
}

// String is the consistency's name in Keyheat JSON.
func (c Consistency) String() string {
	if int(c) < len(consistencyNames) {
		return consistencyNames[c]
	}
	return ""
}

func parseConsistency(name string) (Consistency, bool) {
	for c, known := range consistencyNames {
		if name == known {
			return Consistency(c), true
		}
	}
	return Eventual, false
}
