package position

import "golang.org/x/sys/cpu"

// vectors reports whether sumBlocks works on this processor.
var vectors = cpu.X86.HasAVX2

// sumBlocks returns the first two words of the MD5 of each block.
//
//go:noescape
func sumBlocks(blocks *[blockWords][BatchSize]uint32, sines *[64][8]uint32, sums *[2][BatchSize]uint32)
