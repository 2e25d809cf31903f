// SPDX-License-Identifier: MIT
module example.org/idle

go 1.19
