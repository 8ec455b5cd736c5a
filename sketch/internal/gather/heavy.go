package gather

// TextBytes is the length in bytes to which a text is cut.
const TextBytes = 64

// HeavyTexts keeps the heaviest of many texts in bounded memory, each with a lower bound of its
// weight: Misra and Gries's summary (1982), weighted. It reuses its memory.
type HeavyTexts[T any] struct {
	Places []HeavyText[T]
	Most   int
	// Missing is the most weight that any text, kept or not, has beyond its listed weight.
	Missing uint64
}

// HeavyText is one text of a summary.
type HeavyText[T any] struct {
	Hash, Weight uint64
	Text         []byte
	// Extra is the caller's data about the text since it entered the summary.
	Extra T
}

// Emptying returns the summary without its texts, with room for `most` texts.
func (s HeavyTexts[T]) Emptying(most int) HeavyTexts[T] {
	return HeavyTexts[T]{Places: s.Places[:0], Most: most}
}

// Add adds weight to a text and returns the text's place, or nil if it has none.
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

// lower takes the same weight from every place and from the newcomer: the weight of the
// lightest of them. It returns the newcomer's remaining weight.
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
			s.Places[i], s.Places[kept] = s.Places[kept], s.Places[i] // swap, so that texts keep their memory
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
