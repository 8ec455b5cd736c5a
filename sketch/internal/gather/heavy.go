package gather

// TextBytes is how much of a text is kept.
const TextBytes = 64

// HeavyTexts is of at most so many texts, each with what else is known of it. Its memory
// is kept from use to use.
type HeavyTexts[T any] struct {
	Places []HeavyText[T]
	Most   int
	// Missing is the most that any text, kept or not, has beyond its weight.
	Missing uint64
}

// HeavyText is one text.
type HeavyText[T any] struct {
	Hash, Weight uint64
	Text         []byte
	// Extra is what the user of the summary knows of it since it came.
	Extra T
}

// Emptying returns the summary without its texts, for the most of the next ones.
func (s HeavyTexts[T]) Emptying(most int) HeavyTexts[T] {
	return HeavyTexts[T]{Places: s.Places[:0], Most: most}
}

// Add adds a weight to a text, and returns its place; nil where it has none.
func (s *HeavyTexts[T]) Add(hash uint64, text string, weight uint64) *HeavyText[T] {
	if weight == 0 {
		return nil
	}
	for i := range s.Places {
		if s.Places[i].Hash == hash {
			s.Places[i].Weight += weight
			return &s.Places[i]
		}
	}
	if len(s.Places) == s.Most {
		weight = s.lower(weight)
	}
	if weight == 0 {
		return nil
	}
	return s.put(hash, text, weight)
}

// lower takes the same from every place and from the newcomer, as much as the
// lightest of them has, and returns what the newcomer is left with.
func (s *HeavyTexts[T]) lower(weight uint64) uint64 {
	least := weight
	for i := range s.Places {
		least = min(least, s.Places[i].Weight)
	}
	s.Missing += least
	kept := 0
	for i := range s.Places {
		s.Places[i].Weight -= least
		if s.Places[i].Weight > 0 {
			s.Places[i], s.Places[kept] = s.Places[kept], s.Places[i] // texts keep their memory
			kept++
		}
	}
	s.Places = s.Places[:kept]
	return weight - least
}

func (s *HeavyTexts[T]) put(hash uint64, text string, weight uint64) *HeavyText[T] {
	n := len(s.Places)
	if n < cap(s.Places) {
		s.Places = s.Places[:n+1]
	} else {
		s.Places = append(s.Places, HeavyText[T]{})
	}
	p := &s.Places[n]
	*p = HeavyText[T]{Hash: hash, Weight: weight, Text: append(p.Text[:0], text[:min(len(text), TextBytes)]...)}
	return p
}
