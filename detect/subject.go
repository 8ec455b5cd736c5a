package detect

// Case is the code of an answer to the question why requests are refused, or will be: see
// package casebook.
type Case string

// Subject is what a finding is about.
type Subject string

// The subjects whose load is watched. Their findings are sent when they fire, and the case of
// one can change while it goes on.
const (
	// KeyWrites and KeyReads are one key's writes and reads. An index's key whose partition is
	// full throttles the writes of the table itself, even if the table's own keys are all cool.
	KeyWrites Subject = "key_writes"
	KeyReads  Subject = "key_reads"
	// SubjectPartition is a partition that throttles requests though no key is near a limit.
	SubjectPartition Subject = "partition"
	// SubjectTable is a table or index that lacks capacity as a whole.
	SubjectTable Subject = "table"
)

// The subjects of related findings, about hot keys or the design of keys. The root of an
// incident has the state of the findings that it explains. Any other one stays Pending while
// it holds.
const (
	// SubjectKeys are several keys that belong together.
	SubjectKeys       Subject = "keys"
	SubjectItem       Subject = "item"
	SubjectCollection Subject = "collection"
	SubjectCaller     Subject = "caller"
	// SubjectSamples are the samples of a table, as far as they leave open which keys are hot.
	SubjectSamples Subject = "samples"
)

// SubjectPipeline is Keyheat itself. Its findings do fire: unseen is not calm.
const SubjectPipeline Subject = "pipeline"

// Subjects returns the names of all subjects.
func Subjects() []string {
	var all []string
	for _, s := range []Subject{
		KeyWrites, KeyReads, SubjectPartition, SubjectTable,
		SubjectKeys, SubjectItem, SubjectCollection, SubjectCaller, SubjectSamples, SubjectPipeline,
	} {
		all = append(all, string(s))
	}
	return all
}

// OfPipeline reports whether a subject is Keyheat itself, and not a table.
func (s Subject) OfPipeline() bool { return s == SubjectPipeline }

// IsBlind reports whether a subject is what Keyheat cannot see, and not a load.
func (s Subject) IsBlind() bool { return s == SubjectPipeline || s == SubjectSamples }

// OfTable reports whether a subject is a table or index as a whole, which throttles.
func (s Subject) OfTable() bool { return s == SubjectPartition || s == SubjectTable }

// OfKey reports whether a subject is one key's own load.
func (s Subject) OfKey() bool { return s == KeyWrites || s == KeyReads }

// IsWatched reports whether a subject's load is watched, so that its case can change.
func (s Subject) IsWatched() bool { return s.OfKey() || s.OfTable() }
