package sketch

import "github.com/keyheat/keyheat/sketch/internal/front"

// Registers are the registers of one HyperLogLog (of one table or index and one minute) that
// have risen since the last Seal.
type Registers = front.Registers

// Register is one register of a HyperLogLog.
type Register = front.Register

// CardinalityError is the standard error of a Cardinality's estimate, relative to the true
// number: 1.04/√4096 (Flajolet, Fusy, Gandouet and Meunier 2007).
const CardinalityError = 0.0163

// Cardinality counts the distinct keys of one table or index in one minute.
type Cardinality = front.Cardinality
