package streamstest

import (
	"math/big"
)

// Positions in a stream are counted from 0; to the outside each is a sequence
// number: firstSequence + position × sequenceStep. The first 14
// have 39 digits, and all others 40.
var (
	firstSequence = func() *big.Int {
		n := new(big.Int).Exp(big.NewInt(10), big.NewInt(39), nil)
		return n.Sub(n, big.NewInt(40))
	}()
	bigStep = big.NewInt(sequenceStep)
)

// sequenceStep is the distance of neighbours: a sequence number plus one is
// none.
const sequenceStep = 3

// sequence is the sequence number of a position.
func sequence(position int64) string {
	n := new(big.Int).Mul(big.NewInt(position), bigStep)
	return n.Add(n, firstSequence).String()
}

// position is where a sequence number stands, or would stand: the first
// position that is not before it. False when the text is no such number.
func position(sequence string) (int64, bool) {
	n, ok := new(big.Int).SetString(sequence, 10)
	if !ok || n.Cmp(firstSequence) < 0 {
		return 0, false
	}
	n.Sub(n, firstSequence).Add(n, big.NewInt(sequenceStep-1)).Div(n, bigStep)
	return n.Int64(), n.IsInt64()
}
