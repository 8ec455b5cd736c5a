package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/keyheat/keyheat/internal/collect"
	"github.com/keyheat/keyheat/sample/format"
)

// topicForms are the formats of topics; the empty name stands for all other topics.
type topicForms map[string]format.Format

// forms reads kafka.format: one form for all topics, and topic=form for single
// ones.
func (k *Kafka) forms() (topicForms, error) {
	forms := topicForms{"": format.Keyheat}
	given := make(map[string]bool)
	for _, entry := range k.Format {
		topic, name, single := strings.Cut(entry, "=")
		if !single {
			topic, name = "", entry
		}
		f, err := format.Parse(name)
		switch {
		case err != nil:
			return nil, err
		case single && !slices.Contains(k.Topics, topic):
			return nil, fmt.Errorf("%q: kafka.topics has no topic %q", entry, topic)
		case given[topic]:
			return nil, fmt.Errorf("%q: a second format for the same topics: keep one", entry)
		}
		given[topic], forms[topic] = true, f
	}
	return forms, nil
}

// partitionFormat is the form of a partition, whose name is topic/number.
func (t topicForms) partitionFormat(partition string) format.Format {
	topic := partition[:max(0, strings.LastIndexByte(partition, '/'))]
	if f, ok := t[topic]; ok {
		return f
	}
	return t[""]
}

func (t topicForms) decoders(tables format.Tables) func(partition string) collect.Decoder {
	return func(partition string) collect.Decoder { return format.NewDecoder(t.partitionFormat(partition), tables) }
}
