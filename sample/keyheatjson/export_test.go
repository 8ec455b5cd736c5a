package keyheatjson

// Known returns how many records the decoder read by a shape that it had learned, Steps
// how much it keeps of shapes.
func (d *Decoder) Known() int { return d.shapes.hits }

// Steps is documented at Known.
func (d *Decoder) Steps() int { return d.shapes.steps }
