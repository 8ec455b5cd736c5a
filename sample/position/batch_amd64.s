#include "textflag.h"

// MD5 of 24 blocks at once: each vector has one word of eight blocks. Y0 to Y3 are MD5's words
// a, b, c and d of the first eight, Y4 to Y7 and Y8 to Y11 those of the others. A step waits for
// the one before, so the three groups take turns and wait less.
//
// SI points to the blocks, DI to the constants of the steps, each eight times. Y12 to Y14 are
// free, and Y15 has all bits.

// The functions of b, c and d in MD5's four rounds. G adds a part of its value to a at once.
#define F(a, b, c, d, t) \
	VPXOR c, d, t; \
	VPAND b, t, t; \
	VPXOR d, t, t

#define G(a, b, c, d, t) \
	VPANDN c, d, t; \
	VPADDD t, a, a; \
	VPAND  b, d, t

#define H(a, b, c, d, t) \
	VPXOR c, d, t; \
	VPXOR b, t, t

#define I(a, b, c, d, t) \
	VPXOR Y15, d, t; \
	VPOR  b, t, t; \
	VPXOR c, t, t

// TURN makes a = b + (a + f(b, c, d) + the block's word + the step's constant) rotated left.
#define TURN(f, a, b, c, d, t, step, at, left) \
	VPADDD at(SI), a, a; \
	VPADDD (32*step)(DI), a, a; \
	f(a, b, c, d, t); \
	VPADDD t, a, a; \
	VPSLLD $left, a, t; \
	VPSRLD $(32-left), a, a; \
	VPOR   t, a, a; \
	VPADDD b, a, a

#define STEPS(f, step, w0, w1, w2, w3, l0, l1, l2, l3) \
	TURN(f, Y0, Y1, Y2, Y3, Y12, (step), (96*w0), l0); \
	TURN(f, Y4, Y5, Y6, Y7, Y13, (step), (96*w0+32), l0); \
	TURN(f, Y8, Y9, Y10, Y11, Y14, (step), (96*w0+64), l0); \
	TURN(f, Y3, Y0, Y1, Y2, Y12, (step+1), (96*w1), l1); \
	TURN(f, Y7, Y4, Y5, Y6, Y13, (step+1), (96*w1+32), l1); \
	TURN(f, Y11, Y8, Y9, Y10, Y14, (step+1), (96*w1+64), l1); \
	TURN(f, Y2, Y3, Y0, Y1, Y12, (step+2), (96*w2), l2); \
	TURN(f, Y6, Y7, Y4, Y5, Y13, (step+2), (96*w2+32), l2); \
	TURN(f, Y10, Y11, Y8, Y9, Y14, (step+2), (96*w2+64), l2); \
	TURN(f, Y1, Y2, Y3, Y0, Y12, (step+3), (96*w3), l3); \
	TURN(f, Y5, Y6, Y7, Y4, Y13, (step+3), (96*w3+32), l3); \
	TURN(f, Y9, Y10, Y11, Y8, Y14, (step+3), (96*w3+64), l3)

#define START(a, b, c, d) \
	VPBROADCASTD start<>+0(SB), a; \
	VPBROADCASTD start<>+4(SB), b; \
	VPBROADCASTD start<>+8(SB), c; \
	VPBROADCASTD start<>+12(SB), d

// END writes the first two words of the sums of eight blocks.
#define END(a, b, at) \
	VPADDD  Y12, a, a; \
	VPADDD  Y13, b, b; \
	VMOVDQU a, at(DX); \
	VMOVDQU b, (96+at)(DX)

// func sumBlocks(blocks *[16][24]uint32, sines *[64][8]uint32, sums *[2][24]uint32)
TEXT ·sumBlocks(SB), NOSPLIT, $0-24
	MOVQ blocks+0(FP), SI
	MOVQ sines+8(FP), DI
	MOVQ sums+16(FP), DX
	VPCMPEQD Y15, Y15, Y15
	START(Y0, Y1, Y2, Y3)
	START(Y4, Y5, Y6, Y7)
	START(Y8, Y9, Y10, Y11)

	STEPS(F, 0, 0, 1, 2, 3, 7, 12, 17, 22)
	STEPS(F, 4, 4, 5, 6, 7, 7, 12, 17, 22)
	STEPS(F, 8, 8, 9, 10, 11, 7, 12, 17, 22)
	STEPS(F, 12, 12, 13, 14, 15, 7, 12, 17, 22)
	STEPS(G, 16, 1, 6, 11, 0, 5, 9, 14, 20)
	STEPS(G, 20, 5, 10, 15, 4, 5, 9, 14, 20)
	STEPS(G, 24, 9, 14, 3, 8, 5, 9, 14, 20)
	STEPS(G, 28, 13, 2, 7, 12, 5, 9, 14, 20)
	STEPS(H, 32, 5, 8, 11, 14, 4, 11, 16, 23)
	STEPS(H, 36, 1, 4, 7, 10, 4, 11, 16, 23)
	STEPS(H, 40, 13, 0, 3, 6, 4, 11, 16, 23)
	STEPS(H, 44, 9, 12, 15, 2, 4, 11, 16, 23)
	STEPS(I, 48, 0, 7, 14, 5, 6, 10, 15, 21)
	STEPS(I, 52, 12, 3, 10, 1, 6, 10, 15, 21)
	STEPS(I, 56, 8, 15, 6, 13, 6, 10, 15, 21)
	STEPS(I, 60, 4, 11, 2, 9, 6, 10, 15, 21)

	START(Y12, Y13, Y14, Y15)
	END(Y0, Y1, 0)
	END(Y4, Y5, 32)
	END(Y8, Y9, 64)
	VZEROUPPER
	RET

// The words from which each MD5 starts.
DATA start<>+0(SB)/4, $0x67452301
DATA start<>+4(SB)/4, $0xefcdab89
DATA start<>+8(SB)/4, $0x98badcfe
DATA start<>+12(SB)/4, $0x10325476
GLOBL start<>(SB), RODATA|NOPTR, $16
